package locks

import (
	"context"
	"sync"
	"time"
)

const (
	// minGap is the shortest distance of two samples that says anything.
	minGap = 100 * time.Millisecond
	// tick is the kernel's unit of processor time. One tick more may be a
	// microsecond of work that crossed its edge.
	tick = 10 * time.Millisecond
	// A server that waits still wakes up for its timers. It moves when it uses a
	// hundredth of a core, or did a piece of work, however long the distance.
	movingPercent = 1.0
	movingCPU     = 100 * time.Millisecond
	// forgetAfter bounds what is kept of processes that hold nothing any more.
	forgetAfter = time.Hour
)

// tracker keeps the last processor sample of each holder between two looks.
type tracker struct {
	mu      sync.Mutex
	samples map[incarnation]sample
}

// incarnation is a pid together with its start, since pids are used again.
type incarnation struct {
	pid   int
	birth uint64
}

type sample struct {
	cpu     time.Duration
	at      time.Time // monotonic
	percent float64
	known   bool      // percent is of two samples
	moved   time.Time // when processor time last moved; zero = never seen moving
}

// note stores a sample and tells whether there is now a rate.
func (t *tracker) note(p Process, at, now time.Time) (sample, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	who := incarnation{p.PID, p.birth}
	last, ok := t.samples[who]
	if ok && at.Sub(last.at) < minGap {
		return last, last.known
	}
	next := sample{cpu: p.cpu, at: at, moved: last.moved}
	if ok {
		used, gap := p.cpu-last.cpu, at.Sub(last.at)
		next.known = true
		next.percent = 100 * used.Seconds() / gap.Seconds()
		if used >= movingCPU || used > tick && next.percent >= movingPercent {
			next.moved = now
		}
	}
	if t.samples == nil {
		t.samples = map[incarnation]sample{}
	}
	for old, s := range t.samples {
		if at.Sub(s.at) > forgetAfter {
			delete(t.samples, old)
		}
	}
	t.samples[who] = next
	return next, next.known
}

// watched is a holder whose activity is to be told, with the last time that
// something else showed it at work.
type watched struct {
	holder *Holder
	trace  time.Time
}

// measure fills in processor share and idle time. A holder seen for the first
// time needs two samples, so the first look at it takes interval longer; later
// looks compare with the look before and wait for nothing.
func (o *Observer) measure(ctx context.Context, all []watched) error {
	var fresh []watched
	for _, w := range all {
		if w.holder.hasCPU && !o.settle(w) {
			fresh = append(fresh, w)
		}
	}
	if len(fresh) == 0 || o.interval < 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(max(o.interval, minGap))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	for _, w := range fresh {
		again, ok := o.process(w.holder.PID)
		if !ok || again.birth != w.holder.birth {
			continue // it has gone in between
		}
		w.holder.cpu, w.holder.State = again.cpu, again.State
		o.settle(w)
	}
	return nil
}

// settle writes what the samples say so far into the holder.
func (o *Observer) settle(w watched) bool {
	now := o.now()
	s, ok := o.activity.note(w.holder.Process, time.Now(), now)
	if !ok {
		return false
	}
	since := w.holder.Started
	for _, t := range []time.Time{w.holder.Since, w.trace, s.moved} {
		if t.After(since) {
			since = t
		}
	}
	percent := s.percent
	w.holder.CPUPercent = &percent
	if !since.IsZero() {
		idle := max(now.Sub(since).Seconds(), 0)
		if w.holder.State == "R" || s.moved.Equal(now) {
			idle = 0
		}
		w.holder.IdleSeconds = &idle
	}
	return true
}
