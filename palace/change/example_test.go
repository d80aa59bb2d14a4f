package change_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/change"
)

func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// deleting needs agreeing to: reversible
	// done: 1 row deleted; castellan undo puts them back
	// 1 of 2 drawers left
	// done: 1 row put back
	// 2 of 2 drawers left
}

func example(ctx context.Context) error {
	home, err := os.MkdirTemp("", "castellan-change-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	m := palace.NewManager(palace.Options{Home: home, Env: func(string) string { return "" }})
	defer m.Close()
	p, err := m.Create(ctx, filepath.Join(home, "palace"), backend.SQLiteExact)
	if err != nil {
		return err
	}
	c, err := p.CreateCollection(ctx, backend.NewCollection{Name: change.DefaultDrawers})
	if err != nil {
		return err
	}
	for _, name := range []string{"a.md", "b.md"} {
		text := "what " + name + " says"
		err := c.Upsert(ctx, []backend.Record{{ID: name, Document: &text, Embedding: []float32{1, 0},
			Metadata: backend.Metadata{"wing": "notes", "room": "general", "source_file": "/notes/" + name}}})
		if err != nil {
			return err
		}
	}

	target := change.Target{Manager: m, Palace: p, StateDir: filepath.Join(home, "state")}
	source := "/notes/a.md"
	del, err := change.NewDelete(target, change.Selection{Source: &source})
	if err != nil {
		return err
	}
	plan, err := del.Plan(ctx)
	if err != nil {
		return err
	}
	fmt.Println("deleting needs agreeing to:", plan.Risk)

	runner := action.NewRunner(action.Options{Locker: action.PalaceLocks{Home: home}})
	defer runner.Shutdown(ctx)
	undo, err := change.NewUndo(target)
	if err != nil {
		return err
	}
	for _, a := range []action.Action{del, undo} {
		plan, err := a.Plan(ctx)
		if err != nil {
			return err
		}
		run, err := runner.Start(ctx, a, plan)
		if err != nil {
			return err
		}
		<-run.Done()
		end := run.Snapshot()
		fmt.Printf("%s: %s\n", end.State, end.Result.Summary)
		n, err := c.Count(ctx, backend.Filter{})
		if err != nil {
			return err
		}
		fmt.Println(n, "of 2 drawers left")
	}
	return nil
}
