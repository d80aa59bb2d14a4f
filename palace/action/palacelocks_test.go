package action_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace/action"
)

func TestARunHoldsMemPalacesLockUntilItIsOver(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "work")
	target := locks.Target{Path: path}
	var during, within error
	act := holding{path: path, do: func(ctx context.Context) {
		_, during = locks.Take(t.Context(), target, locks.TakeOptions{Home: home})
		within = locks.Do(ctx, target, locks.TakeOptions{Home: home}, func(context.Context) error { return nil })
	}}
	plan, err := act.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runner := action.NewRunner(action.Options{Locker: action.PalaceLocks{Home: home}})
	run, err := runner.Start(t.Context(), act, plan)
	if err != nil {
		t.Fatal(err)
	}
	<-run.Done()
	if s := run.Snapshot(); s.State != action.StateDone {
		t.Fatalf("%s: %v", s.State, s.Err)
	}
	var held *locks.HeldError
	if !errors.As(during, &held) {
		t.Errorf("another taker during the run got %v, not a *locks.HeldError", during)
	}
	if within != nil {
		t.Errorf("the run itself: %v", within)
	}
	lease, err := locks.Take(t.Context(), target, locks.TakeOptions{Home: home})
	if err != nil {
		t.Fatalf("after the run: %v", err)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

func TestARunOnAHeldPalaceEndsAfterItsWaitNamingTheHolder(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "work")
	lease, err := locks.Take(t.Context(), locks.Target{Path: path}, locks.TakeOptions{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	}()
	act := holding{path: path, wait: 50 * time.Millisecond, do: func(context.Context) { t.Error("it ran") }}
	plan, err := act.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run, err := action.NewRunner(action.Options{Locker: action.PalaceLocks{Home: home}}).Start(t.Context(), act, plan)
	if err != nil {
		t.Fatal(err)
	}
	<-run.Done()
	var held *locks.HeldError
	if s := run.Snapshot(); s.State != action.StateFailed || !errors.As(s.Err, &held) {
		t.Errorf("%s: %v", s.State, s.Err)
	}
}

// holding is an action that does one thing under its lease.
type holding struct {
	path string
	wait time.Duration
	do   func(context.Context)
}

func (h holding) Subject() action.Subject {
	return action.Subject{Palace: h.path, Keys: []string{h.path}, LockPaths: []string{h.path}, Wait: h.wait}
}

func (h holding) Plan(context.Context) (action.Plan, error) {
	return action.Plan{Title: "Hold it", Risk: action.RiskNone}, nil
}

func (h holding) Run(ctx context.Context, _ action.Reporter) (action.Result, error) {
	h.do(ctx)
	return action.Result{Summary: "held"}, nil
}
