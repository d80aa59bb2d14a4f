package views

import (
	"context"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// work runs loads. Bubble Tea does not wait for its commands when the program
// ends; work does, so that nothing still reads a palace whose handle is being
// closed.
type work struct {
	ctx  context.Context
	stop context.CancelFunc

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

func newWork(ctx context.Context) *work {
	w := &work{}
	w.ctx, w.stop = context.WithCancel(ctx)
	return w
}

// do makes a command of a load. It gets the program's context, and runs no more
// once the program ends.
func (w *work) do(load func(context.Context) tea.Msg) tea.Cmd { return w.under(w.ctx, load) }

// under is do for a context made from the program's, for loads that can be
// called off.
func (w *work) under(ctx context.Context, load func(context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return nil
		}
		w.wg.Add(1)
		w.mu.Unlock()
		defer w.wg.Done()
		return load(ctx)
	}
}

// end calls all loads off and waits for them. A system call on a dead mount
// cannot be called off; after patience it is left behind, and end says so.
func (w *work) end(patience time.Duration) bool {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.stop()
	done := make(chan struct{})
	go func() {
		w.wg.Wait()
		close(done)
	}()
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
