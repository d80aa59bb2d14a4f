package action

import (
	"context"
	"io"
	"time"
)

// pace is how often a subscriber is told of mere progress. People see no
// faster, and a run that counts rows says so thousands of times a second.
const pace = 100 * time.Millisecond

// Subscription hears everything a run has said and will say. It is one
// goroutine's; it needs no closing and holds nothing of the run up.
type Subscription struct {
	run  *Run
	next int       // in run.kept
	seen uint64    // the last Progress or Waiting that was delivered
	last time.Time // when
}

// Subscribe begins with the run's first event, however late it is called.
func (r *Run) Subscribe() *Subscription { return &Subscription{run: r} }

// Next gives what is new, in the order in which it was said, and waits for it
// where there is nothing. Of Progress and Waiting it gives the latest only, and
// not more often than people can see. After the batch with Finished it gives
// io.EOF; when ctx ends while there is nothing to give, its error.
func (s *Subscription) Next(ctx context.Context) ([]Event, error) {
	for {
		batch, more, later := s.collect()
		switch {
		case len(batch) > 0:
			return batch, nil
		case more == nil:
			return nil, io.EOF
		}
		if err := pause(ctx, more, later); err != nil {
			return nil, err
		}
	}
}

// collect gives what is new. Where that is nothing, more is closed when it is
// worth asking again (nil = never), which is also so after later, unless 0.
func (s *Subscription) collect() (batch []Event, more <-chan struct{}, later time.Duration) {
	r := s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.kept[s.next:] {
		if e.seq > s.seen { // else it was delivered before it was kept
			batch = append(batch, e)
		}
	}
	s.next = len(r.kept)
	pending := r.latest != nil && r.latest.seq > s.seen
	if pending {
		later = pace - time.Since(s.last)
	}
	switch {
	case pending && (later <= 0 || len(batch) > 0):
		s.seen, s.last = r.latest.seq, time.Now()
		return append(batch, *r.latest), nil, 0
	case len(batch) > 0 || r.finished != nil:
		return batch, nil, 0
	case pending:
		return nil, waitOn(&r.wakeKept), later
	}
	return nil, waitOn(&r.wake), 0
}

func pause(ctx context.Context, more <-chan struct{}, later time.Duration) error {
	var due <-chan time.Time
	if later > 0 {
		t := time.NewTimer(later)
		defer t.Stop()
		due = t.C
	}
	select {
	case <-more:
	case <-due:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
