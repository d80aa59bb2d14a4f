package cli

import (
	"context"
	"os"
	"strings"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/health"
)

// eyes are what a command looks with.
type eyes struct {
	manager  *palace.Manager
	observer *locks.Observer
	examiner *health.Examiner
}

// eyes looks at the palaces of whoever lives in home; empty means the person
// who runs the program. Another home comes without that person's settings:
// they would lead back to their own palace.
func (a *app) eyes(home string) eyes {
	env := os.Getenv
	if home != "" {
		env = func(name string) string {
			if strings.HasPrefix(name, "MEMPAL") || strings.HasPrefix(name, "CHROMA_") || strings.HasPrefix(name, "XDG_") {
				return ""
			}
			return os.Getenv(name)
		}
	}
	e := eyes{
		manager: palace.NewManager(palace.Options{Home: home, Env: env, Now: a.now,
			// It answers within a write, so it waits for no second sample.
			Watch: locks.NewObserver(locks.Options{Home: home, Now: a.now, Getenv: env, SampleInterval: -1}),
		}),
		observer: locks.NewObserver(locks.Options{Home: home, Now: a.now, Getenv: env}),
	}
	state := ""
	if home == "" {
		// Without a place for it no history is kept.
		state, _ = action.StateDir()
	}
	e.examiner = health.NewExaminer(health.Options{
		Manager: e.manager, Observer: e.observer, Version: buildVersion().Castellan, Now: a.now, StateDir: state,
	})
	return e
}

// shut lets go of whatever looking has opened.
func (a *app) shut(e eyes) {
	if err := e.manager.Close(); err != nil {
		a.log.Warn("closing after a look", "error", err)
	}
}

// report examines the palace that was named, or the default one.
func (a *app) report(ctx context.Context, depth health.Depth) (*health.Report, error) {
	return a.watch(ctx, depth, health.Watch{})
}

// watch is report with somebody who hears of it meanwhile.
func (a *app) watch(ctx context.Context, depth health.Depth, w health.Watch) (*health.Report, error) {
	e := a.eyes("")
	defer a.shut(e)
	d, err := e.manager.Discover(ctx, a.flags.palace)
	if err != nil {
		return nil, err
	}
	r := e.examiner.Watch(ctx, *d.Default(), depth, w)
	return r, ctx.Err()
}

// reading opens the palace that was named, or the default one, and hands it to
// read. What goes wrong then is told as a palace that cannot be read, unless
// it is something more precise.
func (a *app) reading(ctx context.Context, read func(*palace.Palace, palace.Config) error) error {
	e := a.eyes("")
	defer a.shut(e)
	d, err := e.manager.Discover(ctx, a.flags.palace)
	if err != nil {
		return err
	}
	p, err := e.manager.Open(ctx, d.Default().Ref)
	if err == nil {
		err = read(p, d.Config)
	}
	if err != nil {
		return &ReadError{Palace: d.Default().Ref.Path, Err: err}
	}
	return nil
}
