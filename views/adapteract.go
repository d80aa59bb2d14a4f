package views

import (
	"context"
	"path/filepath"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/action/closing"
	"castellan/palace/change"
	"castellan/palace/queue"
	"castellan/palace/repair"
)

func (c *core) Runner() *action.Runner { return c.o.Runner }

func (c *core) Process(pid int) (locks.Process, bool) { return c.o.Observer.Process(pid) }

func (c *core) Closing(ctx context.Context, p palace.Found, how Closing) (action.Action, error) {
	o := closing.Options{
		Subject:  action.SubjectOf(&palace.Site{Ref: p.Ref, Aliases: p.Aliases}),
		Target:   locks.Target{Path: p.Ref.Path, Spellings: p.LockPaths()},
		Observer: c.o.Observer, Name: filepath.Base(p.Ref.Path), Kill: how.Kill,
	}
	if how.PauseHooks {
		h, err := c.hooks(ctx)
		if err != nil {
			return nil, err
		}
		o.Hooks = h
	}
	return closing.New(o)
}

func (c *core) Resuming(ctx context.Context) (action.Action, error) {
	h, err := c.hooks(ctx)
	if err != nil {
		return nil, err
	}
	return closing.Resuming{Hooks: h}, nil
}

// hooks are the automatic saves of the MemPalace whose palaces these are.
func (c *core) hooks(ctx context.Context) (*closing.Hooks, error) {
	d, err := c.o.Manager.Discover(ctx, c.o.Flag)
	if err != nil {
		return nil, err
	}
	state, err := c.state()
	if err != nil {
		return nil, err
	}
	return &closing.Hooks{File: d.Config.File, StateDir: state}, nil
}

// state is where Castellan keeps what outlives it.
func (c *core) state() (string, error) {
	if c.o.StateDir != "" {
		return c.o.StateDir, nil
	}
	return action.StateDir()
}

// target is a palace that is to be changed.
func (c *core) target(ctx context.Context, p palace.Found) (t change.Target, err error) {
	t = change.Target{Manager: c.o.Manager, Watch: c.o.Observer}
	if t.StateDir, err = c.state(); err != nil {
		return t, err // what cannot be kept is not changed
	}
	d, err := c.o.Manager.Discover(ctx, c.o.Flag)
	if err != nil {
		return t, err
	}
	t.Drawers = d.Config.CollectionName
	t.Palace, err = c.o.Manager.Open(ctx, p.Ref)
	return t, err
}

func (c *core) Deleting(ctx context.Context, p palace.Found, sel change.Selection) (action.Action, error) {
	t, err := c.target(ctx, p)
	if err != nil {
		return nil, err
	}
	return change.NewDelete(t, sel)
}

func (c *core) Undoing(ctx context.Context, p palace.Found) (action.Action, error) {
	t, err := c.target(ctx, p)
	if err != nil {
		return nil, err
	}
	return change.NewUndo(t, repair.Restorer{})
}

func (c *core) Draining(ctx context.Context, p palace.Found) (action.Action, error) {
	t, err := c.target(ctx, p)
	if err != nil {
		return nil, err
	}
	return change.NewDrain(t)
}

func (c *core) Waiting(ctx context.Context, p palace.Found) ([]queue.Entry, error) {
	key := change.Key(p.LockPaths())
	if key == "" {
		return nil, nil // a server: nothing waits for it
	}
	state, err := c.state()
	if err != nil {
		return nil, nil // then nothing was ever kept
	}
	q, err := queue.Open(state, key, queue.Options{})
	if err != nil {
		return nil, err
	}
	return q.List()
}
