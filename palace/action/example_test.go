package action_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"castellan/locks"
	"castellan/palace/action"
)

// vacuum is a small action.
type vacuum struct{ path string }

func (v vacuum) Subject() action.Subject {
	return action.Subject{Palace: v.path, Keys: []string{v.path}, LockPaths: []string{v.path}, Wait: time.Minute}
}

func (v vacuum) Plan(context.Context) (action.Plan, error) {
	return action.Plan{
		Title: "Vacuum work", Reason: "a third of its pages are free",
		Steps:  []string{"copy the database", "put the copy in its place"},
		Leaves: []string{"every drawer"},
		Risk:   action.RiskReversible,
	}, nil
}

func (v vacuum) Run(ctx context.Context, report action.Reporter) (action.Result, error) {
	if err := report.Phase(action.Phase{N: 1, Of: 2, Name: "copy", CanStop: true}); err != nil {
		return action.Result{}, err
	}
	for page := range int64(300) {
		if ctx.Err() != nil {
			return action.Result{}, ctx.Err()
		}
		report.Progress(page+1, 300, "pages")
	}
	if err := report.Phase(action.Phase{N: 2, Of: 2, Name: "swap"}); err != nil {
		return action.Result{}, err
	}
	report.Log(action.LevelInfo, "the copy is in place")
	return action.Result{Summary: "100 pages given back"}, nil
}

// locker stands for the palace lock.
type locker struct{}

func (locker) Take(ctx context.Context, paths []string, _ time.Duration, _ func(locks.Holder)) (func() error, context.Context, error) {
	fmt.Println("locked", paths)
	return func() error { fmt.Println("free", paths); return nil }, ctx, nil
}

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "castellan-state-") // a program asks action.StateDir
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	runner := action.NewRunner(action.Options{StateDir: dir, Locker: locker{}})
	defer runner.Shutdown(ctx)

	job := vacuum{"/palaces/work"}
	plan, err := job.Plan(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := runner.Start(ctx, job, plan)
	if err != nil {
		fmt.Println(err) // refused, or busy
		return
	}
	<-run.Done() // not needed: a subscriber may come at any time

	for sub := run.Subscribe(); ; {
		batch, err := sub.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, event := range batch {
			switch e := event.Detail.(type) {
			case action.Phase:
				fmt.Printf("%d/%d %s\n", e.N, e.Of, e.Name)
			case action.Progress:
				fmt.Printf("%d of %d %s\n", e.Done, e.Total, e.Unit)
			case action.Log:
				fmt.Println(e.Text)
			case action.Finished:
				fmt.Println(e.State, e.Result.Summary, e.Err)
			}
		}
	}

	// Output:
	// locked [/palaces/work]
	// free [/palaces/work]
	// 1/2 copy
	// 300 of 300 pages
	// 2/2 swap
	// the copy is in place
	// done 100 pages given back <nil>
}
