package locks

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func TestWritesUnderALeasePassAndStrangersDoNot(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	target := Target{Path: p}
	err := Do(t.Context(), target, TakeOptions{Home: h}, func(ctx context.Context) error {
		if l, ok := LeaseFrom(ctx, Target{Path: p + "/../palace"}); !ok || l.Palace() != p {
			t.Errorf("the lease is not in the context: %v, %v", l, ok)
		}
		if _, ok := LeaseFrom(t.Context(), target); ok {
			t.Error("a lease in a context that never had one")
		}
		if _, ok := LeaseFrom(ctx, Target{Path: p + "2"}); ok {
			t.Error("the lease of one palace passes for another")
		}
		// A key that the lease lacks has to be taken, so it must not pass.
		if _, ok := LeaseFrom(ctx, Target{Path: p, Spellings: []string{p + "2"}}); ok {
			t.Error("the lease passes for keys that it does not lock")
		}
		if _, ok := LeaseFrom(ctx, Target{}); ok {
			t.Error("the lease passes for no palace at all")
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					err := Do(ctx, target, TakeOptions{Home: h}, func(ctx context.Context) error {
						return Do(ctx, target, TakeOptions{Home: h}, func(context.Context) error { return nil })
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
			wg.Go(func() { refused(t, t.Context(), h, p) })
		}
		wg.Wait()
		refused(t, t.Context(), h, p) // none of the many ends gave it back
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	free(t, h, p)
}

// A lease of the same key below another home locks another file.
func TestALeaseOfAnotherHomeDoesNotPass(t *testing.T) {
	t.Parallel()
	h, other := home(t), home(t)
	p := palaceIn(t, h)
	take(t, other, p)
	err := Do(t.Context(), Target{Path: p}, TakeOptions{Home: h}, func(ctx context.Context) error {
		refused(t, ctx, other, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTwoPalacesTwoLeases(t *testing.T) {
	t.Parallel()
	h := home(t)
	from, to := filepath.Join(h, "from"), filepath.Join(h, "to")
	err := Do(t.Context(), Target{Path: from}, TakeOptions{Home: h}, func(ctx context.Context) error {
		return Do(ctx, Target{Path: to}, TakeOptions{Home: h}, func(ctx context.Context) error {
			for _, p := range []string{from, to} {
				l, ok := LeaseFrom(ctx, Target{Path: p})
				if !ok || l.Palace() != p {
					t.Errorf("%s: %v, %v", p, l, ok)
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	free(t, h, from)
	free(t, h, to)
}

func TestTheLockGoesWithTheLastShare(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	owner := take(t, h, p)
	flight, err := owner.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Twice by its owner must not count for the write in flight.
	for range 3 {
		if err := owner.Release(); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, t.Context(), h, p)

	if l, err := owner.Acquire(t.Context()); !errors.Is(err, ErrLeaseEnded) {
		t.Errorf("credit outlived its owner: %v, %v", l, err)
	}
	if err := owner.Check(t.Context()); !errors.Is(err, ErrLeaseEnded) {
		t.Errorf("%v", err)
	}
	late := WithLease(t.Context(), owner)
	if l, err := Take(late, Target{Path: p}, TakeOptions{Home: h}); !errors.Is(err, ErrLeaseEnded) {
		t.Errorf("late work passed: %v, %v", l, err)
	}

	nested, err := flight.Acquire(t.Context())
	if err != nil {
		t.Fatalf("a write in flight cannot go on: %v", err)
	}
	if err := flight.Release(); err != nil {
		t.Fatal(err)
	}
	refused(t, t.Context(), h, p)
	if err := nested.Release(); err != nil {
		t.Fatal(err)
	}
	free(t, h, p)
}

func TestSharesEndInAnyOrderFromManyGoroutines(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	for range 20 {
		owner := take(t, h, p)
		var wg sync.WaitGroup
		var ended atomic.Int32
		for range 16 {
			wg.Go(func() {
				for {
					l, err := owner.Acquire(context.Background())
					if errors.Is(err, ErrLeaseEnded) {
						ended.Add(1)
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					if err := errors.Join(l.Check(context.Background()), l.Release(), l.Release()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		if err := owner.Release(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if ended.Load() != 16 {
			t.Errorf("%d of 16 were told that the lease has ended", ended.Load())
		}
		free(t, h, p)
	}
}
