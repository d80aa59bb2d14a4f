package cli

import (
	"context"
	"path/filepath"
	"time"

	"castellan/palace/action"
)

// letGo is how long the program waits, at its end, for runs that are stopped to
// give their leases back.
const letGo = 10 * time.Second

// runner runs actions on the palaces of whoever lives in home; empty means the
// person who runs the program. Another home keeps its own state. Without a
// directory for state the runner keeps no logs, and the error says why.
func (a *app) runner(home string) (*action.Runner, error) {
	state, err := stateDir(home)
	return action.NewRunner(action.Options{Now: a.now, StateDir: state, Locker: action.PalaceLocks{Home: home}}), err
}

func stateDir(home string) (string, error) {
	if home != "" {
		return filepath.Join(home, ".local", "state", "castellan"), nil
	}
	return action.StateDir()
}

// endRuns stops what still runs and waits for it, bounded.
func (a *app) endRuns(r *action.Runner) {
	ctx, stop := context.WithTimeout(context.Background(), letGo)
	defer stop()
	if err := r.Shutdown(ctx); err != nil {
		a.say("castellan: %v", err)
	}
}
