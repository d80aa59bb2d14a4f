package views

import (
	"context"
	"path/filepath"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/action/closing"
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
	state := c.o.StateDir
	if state == "" {
		if state, err = action.StateDir(); err != nil {
			return nil, err
		}
	}
	return &closing.Hooks{File: d.Config.File, StateDir: state}, nil
}
