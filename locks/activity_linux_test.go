package locks

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAnIdleServerIsIdleSinceItsLastTrace(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	file := lockFile(t, h, p)
	a := act(t, part{Lock: file, Body: "PID mempalace-mcp"}, "/usr/bin/mempalace-mcp")
	// Eight hours pass on the clock; the last trace is a file of the palace
	// written in the second of them.
	later := time.Now().Add(8 * time.Hour)
	trace := later.Add(-6 * time.Hour)
	if err := os.Chtimes(filepath.Join(p, "chroma.sqlite3"), trace, trace); err != nil {
		t.Fatal(err)
	}
	o := observe(h, Options{Now: func() time.Time { return later }, SampleInterval: 300 * time.Millisecond})
	got := view(t, o, p).Lock.Holder
	if got == nil || got.PID != a.pid || got.Role != RoleMCP {
		t.Fatalf("%+v", got)
	}
	if got.IdleSeconds == nil || *got.IdleSeconds != (6*time.Hour).Seconds() {
		t.Errorf("idle %v, want six hours", got.IdleSeconds)
	}
	if got.CPUPercent == nil || *got.CPUPercent > 50 {
		t.Errorf("it does nothing, at %v %%", got.CPUPercent)
	}
	if len(got.Parents) == 0 || got.Parents[0].PID != os.Getpid() || got.Parents[0].Name == "" || got.Orphan {
		t.Errorf("parents %+v, want this test first", got.Parents)
	}
	if last := got.Parents[len(got.Parents)-1]; last.PID != 1 && len(got.Parents) < maxAncestors {
		t.Errorf("the chain ends at %+v", last)
	}

	// A palace whose files do not change: since the lock was taken.
	if err := os.Remove(filepath.Join(p, "chroma.sqlite3")); err != nil {
		t.Fatal(err)
	}
	got = view(t, o, p).Lock.Holder
	if want := later.Sub(got.Since).Seconds(); *got.IdleSeconds > want+60 || *got.IdleSeconds < want-60 {
		t.Errorf("idle %v s, want about %v", *got.IdleSeconds, want)
	}
}

func TestABusyHolderIsNotIdle(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	act(t, part{Lock: lockFile(t, h, p), Burn: true}, "mempalace", "mine")
	later := time.Now().Add(8 * time.Hour)
	o := observe(h, Options{Now: func() time.Time { return later }, SampleInterval: 500 * time.Millisecond})
	got := view(t, o, p).Lock.Holder
	if got.IdleSeconds == nil || *got.IdleSeconds != 0 || *got.CPUPercent <= 0 {
		t.Errorf("idle %v s at %v %%", got.IdleSeconds, got.CPUPercent)
	}
}

func TestWithoutASecondSampleNothingIsClaimed(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	act(t, part{Lock: lockFile(t, h, p)}, "mempalace", "mine")
	if got := view(t, observe(h, Options{SampleInterval: -1}), p).Lock.Holder; got.IdleSeconds != nil || got.CPUPercent != nil {
		t.Errorf("idle %v, cpu %v after one sample", got.IdleSeconds, got.CPUPercent)
	}
}

func TestIdleTimeFollowsTheSamples(t *testing.T) {
	t.Parallel()
	start := time.Now()
	clock := start
	o := NewObserver(Options{Now: func() time.Time { return clock }})
	look := func(second int, cpu time.Duration, pid int) (sample, bool) {
		clock = start.Add(time.Duration(second) * time.Second)
		return o.activity.note(Process{PID: pid, birth: 7, cpu: cpu}, clock, clock)
	}
	if _, ok := look(0, time.Second, 5); ok {
		t.Error("a rate from one sample")
	}
	if s, ok := look(10, 3*time.Second, 5); !ok || s.percent != 20 || !s.moved.Equal(clock) {
		t.Errorf("two seconds of work in ten: %+v", s)
	}
	worked := clock
	// A timer's wake-up is no work.
	if s, _ := look(20, 3*time.Second+20*time.Millisecond, 5); !s.moved.Equal(worked) {
		t.Errorf("20 ms in 10 s count as work: %+v", s)
	}
	// A short piece of work between two distant looks is.
	if s, _ := look(620, 3*time.Second+170*time.Millisecond, 5); !s.moved.Equal(clock) {
		t.Errorf("150 ms of work were missed: %+v", s)
	}
	if _, ok := look(621, time.Second, 6); ok {
		t.Error("another process has inherited a sample")
	}
	look(621+2*int(forgetAfter.Seconds()), time.Second, 6)
	if len(o.activity.samples) != 1 {
		t.Errorf("%d samples are kept of processes that are long gone", len(o.activity.samples))
	}
}
