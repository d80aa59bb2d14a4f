package palace

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// A stat on a dead network mount never returns; a channel stands for it here.
func TestAFileSystemThatDoesNotAnswerHoldsOneGoroutineAndNobodyElse(t *testing.T) {
	t.Parallel()
	var l looks
	var running atomic.Int32
	answer := make(chan struct{})
	stuck := func(context.Context) int {
		running.Add(1)
		<-answer
		return 1
	}
	for range 5 {
		_, err := observe(t.Context(), &l, "/nas/p", time.Millisecond, stuck)
		var silent *UnresponsiveError
		if !errors.As(err, &silent) || silent.Path != "/nas/p" {
			t.Fatalf("%v, want an UnresponsiveError", err)
		}
	}
	if n := running.Load(); n != 1 {
		t.Errorf("%d looks hang at once, want 1", n)
	}
	if v, err := observe(t.Context(), &l, "/other", time.Minute, func(context.Context) int { return 7 }); v != 7 || err != nil {
		t.Errorf("another path: %d, %v", v, err)
	}
	close(answer)
	// Once it answers again, it is asked again: the old answer is too old.
	if v, err := observe(t.Context(), &l, "/nas/p", time.Minute, func(context.Context) int { return 2 }); v != 2 || err != nil {
		t.Errorf("afterwards: %d, %v", v, err)
	}
}

func TestALookEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var l looks
	answer := make(chan struct{})
	defer close(answer)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	_, err := observe(ctx, &l, "/p", time.Hour, func(context.Context) int { <-answer; return 1 })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
