package palace

import "context"

// gate is a mutex whose waiters can give up. It is not re-entrant.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

// enter waits for the gate or for the end of ctx, and answers its cause then.
func (g gate) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case g <- struct{}{}:
		return nil
	default:
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g gate) leave() { <-g }
