package action

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"castellan/palace"
)

func TestAPalaceHasOneRunAtATime(t *testing.T) {
	t.Parallel()
	l := &fakeLocker{}
	r := newTestRunner(t, Options{Locker: l})
	begun := make(chan struct{})
	first := start(t, r, on("work", untilCancelled(begun)))
	<-begun
	both := on("other", neverRun(t))
	both.subject = both.subject.And(on("work", nil).subject)
	for _, a := range []Action{on("work", neverRun(t)), both} {
		var busy *BusyError
		_, err := r.Start(t.Context(), a, planned)
		if !errors.As(err, &busy) || busy.Run != first.ID() || busy.Title != planned.Title || busy.Palace != "work" || busy.State != StateRunning {
			t.Errorf("%v", err)
		}
	}
	// Neither the palace that was asked for in vain nor any other is blocked.
	other := start(t, r, on("other", func(context.Context, Reporter) (Result, error) { return Result{}, nil }))
	theEnd(t, other, hear(t, other))
	first.Cancel()
	theEnd(t, first, hear(t, first))
	l.allGivenBack(t)
}

func TestOfManyStartsOneGetsThePalace(t *testing.T) {
	t.Parallel()
	l := &fakeLocker{}
	r := newTestRunner(t, Options{Locker: l})
	hold := make(chan struct{})
	var got, ran atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, err := r.Start(t.Context(), on("work", func(context.Context, Reporter) (Result, error) {
				ran.Add(1)
				<-hold
				return Result{}, nil
			}), planned)
			var busy *BusyError
			if err == nil {
				got.Add(1)
			} else if !errors.As(err, &busy) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(hold)
	must(t, r.Shutdown(t.Context())) // cancels what could be done already; both are fine here
	if got.Load() != 1 || ran.Load() > 1 {
		t.Errorf("%d got it, %d ran", got.Load(), ran.Load())
	}
	l.allGivenBack(t)
}

// Whoever hears of the end may start the next at once.
func TestThePalaceIsFreeWhenFinishedIsHeard(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{Locker: &fakeLocker{}})
	work := on("work", func(context.Context, Reporter) (Result, error) { return Result{}, nil })
	var runs []*Run
	for range 3 * keepRuns {
		run := start(t, r, work)
		<-run.Done()
		runs = append(runs, run)
	}
	for _, run := range runs {
		<-run.idle
	}
	start(t, r, work)
	if n := len(r.Runs()); n != keepRuns+1 {
		t.Errorf("%d runs in memory", n)
	}
}

func TestTwoSpellingsOfAPalaceAreOneSubject(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	must(t, os.Mkdir(real, 0o700))
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	m := palace.NewManager(palace.Options{})
	t.Cleanup(func() { must(t, m.Close()) })
	var subjects []Subject
	for _, p := range []string{real, link} {
		site := m.Examine(t.Context(), p)
		s := SubjectOf(&site)
		if s.Palace != p || len(s.LockPaths) == 0 || !slices.Contains(s.Keys, site.Ref.ID.String()) {
			t.Errorf("%+v", s)
		}
		subjects = append(subjects, s)
	}
	r := newTestRunner(t, Options{Locker: &fakeLocker{}})
	begun := make(chan struct{})
	start(t, r, funcAction{subjects[0], untilCancelled(begun)})
	<-begun
	var busy *BusyError
	if _, err := r.Start(t.Context(), funcAction{subjects[1], neverRun(t)}, planned); !errors.As(err, &busy) || busy.Palace != real {
		t.Errorf("%v", err)
	}
	// Put in its place while the run goes on, as a swap does.
	must(t, os.Rename(real, filepath.Join(dir, "old")))
	must(t, os.Mkdir(real, 0o700))
	swapped := m.Examine(t.Context(), link)
	if _, err := r.Start(t.Context(), funcAction{SubjectOf(&swapped), neverRun(t)}, planned); !errors.As(err, &busy) {
		t.Errorf("after a swap: %v", err)
	}
}

func TestShutdownEndsAllAndRefusesMore(t *testing.T) {
	t.Parallel()
	l := &fakeLocker{}
	r := NewRunner(Options{Locker: l, StateDir: t.TempDir()})
	var runs []*Run
	for _, p := range []string{"a", "b", "c"} {
		begun := make(chan struct{})
		runs = append(runs, start(t, r, on(p, untilCancelled(begun))))
		<-begun
	}
	must(t, r.Shutdown(t.Context()))
	l.allGivenBack(t)
	for _, run := range runs {
		if end := theEnd(t, run, hear(t, run)); end.State != StateCancelled || !errors.Is(end.Err, ErrShutdown) {
			t.Errorf("%+v", end)
		}
	}
	if _, err := r.Start(t.Context(), on("d", neverRun(t)), planned); !errors.Is(err, ErrShutdown) {
		t.Errorf("%v", err)
	}
	must(t, r.Shutdown(t.Context()))
}

func TestShutdownIsBoundedAndSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	l := &fakeLocker{}
	r := NewRunner(Options{Locker: l})
	begun, end := make(chan struct{}), make(chan struct{})
	run := start(t, r, on("work", func(_ context.Context, report Reporter) (Result, error) {
		err := report.Phase(Phase{N: 1, Of: 1, Name: "swap"})
		close(begun)
		<-end
		return Result{}, err
	}))
	<-begun
	impatient, enough := context.WithCancel(t.Context())
	enough()
	var still *StillRunningError
	if err := r.Shutdown(impatient); !errors.As(err, &still) || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	same(t, "still running", still.Titles, []string{planned.Title})
	if s := run.Snapshot(); s.State != StateCancelling {
		t.Errorf("%+v", s)
	}
	close(end)
	must(t, r.Shutdown(t.Context()))
	if end := theEnd(t, run, hear(t, run)); end.State != StateDone {
		t.Errorf("the swap was torn: %+v", end)
	}
	l.allGivenBack(t)
}

func TestRunsAreFoundByTheirID(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	run := start(t, r, funcAction{run: func(context.Context, Reporter) (Result, error) { return Result{}, nil }})
	if r.Run(run.ID()) != run || r.Run("other") != nil || len(r.Runs()) != 1 || r.Runs()[0].ID != run.ID() {
		t.Errorf("%v", r.Runs())
	}
}
