package palace

import (
	"context"
	"slices"
	"sync"
	"time"
)

// How long a look may take before the file system counts as unresponsive.
const (
	lookLimit    = 10 * time.Second
	siblingLimit = 2 * time.Second
)

// looks keeps a file system that does not answer from stopping the program. A
// system call on a dead network mount cannot be interrupted, so it runs on a
// goroutine of its own; whoever asks waits only so long. There is never more
// than one such goroutine for a path: a refresh every second must not pile up
// threads that the kernel will not give back.
type looks struct {
	mu      sync.Mutex
	running map[string]chan struct{}
}

// observe runs f for path and waits for it, at most for limit. f's context
// ends earlier, so that a disk which is merely slow gives a part of the answer
// and not none.
func observe[T any](ctx context.Context, l *looks, path string, limit time.Duration, f func(context.Context) T) (T, error) {
	var zero T
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for {
		if err := ctx.Err(); err != nil {
			return zero, err
		}
		l.mu.Lock()
		before, busy := l.running[path]
		if busy {
			l.mu.Unlock()
			select {
			case <-before: // an answer from before we asked would be too old
				continue
			case <-ctx.Done():
				return zero, ctx.Err()
			case <-timeout.C:
				return zero, &UnresponsiveError{Path: path, After: limit}
			}
		}
		if l.running == nil {
			l.running = map[string]chan struct{}{}
		}
		done := make(chan struct{})
		l.running[path] = done
		l.mu.Unlock()

		inner, cancel := context.WithTimeout(ctx, limit*3/4)
		defer cancel()
		answer := make(chan T, 1)
		go func() {
			defer func() {
				l.mu.Lock()
				delete(l.running, path)
				l.mu.Unlock()
				close(done)
			}()
			answer <- f(inner)
		}()
		select {
		case v := <-answer:
			return v, nil
		case <-ctx.Done():
			return zero, ctx.Err()
		case <-timeout.C:
			return zero, &UnresponsiveError{Path: path, After: limit}
		}
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
