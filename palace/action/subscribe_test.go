package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressIsReplacedAndTheLastOfEachPhaseStays(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	run := start(t, r, funcAction{run: func(_ context.Context, report Reporter) (Result, error) {
		for n := 1; n <= 2; n++ {
			if err := report.Phase(Phase{N: n, Of: 2, CanStop: true}); err != nil {
				return Result{}, err
			}
			for i := range int64(10_000) {
				report.Progress(i+1, 10_000, "rows")
			}
			report.Log(LevelInfo, "read")
		}
		return Result{}, nil
	}})
	<-run.Done()
	events := hear(t, run)
	theEnd(t, run, events)
	var said []string
	for _, e := range events {
		said = append(said, fmt.Sprintf("%T", e.Detail))
	}
	same(t, "events", said, []string{"action.Changed",
		"action.Phase", "action.Log", "action.Progress",
		"action.Phase", "action.Log", "action.Progress", "action.Finished"})
	last := Progress{Done: 10_000, Total: 10_000, Unit: "rows"}
	same(t, "progress", details[Progress](events), []Progress{last, last})
}

func TestEverySubscriberHearsTheWholeStory(t *testing.T) {
	t.Parallel()
	const speakers, lines = 4, 500
	r := newTestRunner(t, Options{StateDir: t.TempDir()})
	a := funcAction{run: func(_ context.Context, report Reporter) (Result, error) {
		var wg sync.WaitGroup
		for s := range speakers {
			wg.Go(func() {
				for i := range lines {
					report.Log(LevelInfo, fmt.Sprint(s, " ", i))
					report.Progress(int64(i), lines, "lines")
					if i%100 == 0 {
						report.Finding(i)
					}
				}
			})
		}
		wg.Wait()
		return Result{}, nil
	}}
	run := start(t, r, a)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { complete(t, hear(t, run), speakers, lines) })
	}
	wg.Wait()
	late := hear(t, run)
	theEnd(t, run, late)
	complete(t, late, speakers, lines)
}

// complete checks that nothing is missing, doubled or out of order.
func complete(t *testing.T, events []Event, speakers, lines int) {
	next := make([]int, speakers)
	for _, l := range details[Log](events) {
		var s, i int
		if _, err := fmt.Sscan(l.Text, &s, &i); err != nil || next[s] != i {
			t.Errorf("%q where %d of %d was next", l.Text, next[s], s)
			return
		}
		next[s]++
	}
	for s, n := range next {
		if n != lines {
			t.Errorf("%d lines of speaker %d", n, s)
		}
	}
	if n := len(details[Finding](events)); n != speakers*lines/100 {
		t.Errorf("%d findings", n)
	}
	slices.SortFunc(events, func(a, b Event) int { return int(a.seq) - int(b.seq) })
	for i := 1; i < len(events); i++ {
		if events[i].seq == events[i-1].seq {
			t.Errorf("said twice: %v", events[i])
		}
	}
}

func TestASubscriberThatNeverListensHoldsNothingUp(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	begun, listening := make(chan struct{}), make(chan struct{})
	run := start(t, r, funcAction{run: func(_ context.Context, report Reporter) (Result, error) {
		report.Log(LevelInfo, "0 0")
		close(begun)
		<-listening
		for i := 1; i < 10_000; i++ {
			report.Log(LevelInfo, fmt.Sprint("0 ", i))
		}
		return Result{}, nil
	}})
	<-begun
	slow, gone := run.Subscribe(), run.Subscribe()
	for _, s := range []*Subscription{slow, gone} {
		_, err := s.Next(t.Context())
		must(t, err)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := gone.Next(left); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(listening)
	<-run.Done()
	events, err := slow.Next(t.Context())
	must(t, err)
	if n := len(details[Log](events)); n != 9_999 {
		t.Errorf("%d lines", n)
	}
	theEnd(t, run, events)
	if _, err := slow.Next(t.Context()); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

func TestProgressIsToldNoFasterThanItIsSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewRunner(Options{})
		run := start(t, r, funcAction{run: func(_ context.Context, report Reporter) (Result, error) {
			for i := range int64(10_000) {
				time.Sleep(time.Millisecond)
				report.Progress(i, 0, "rows")
				if i == 5_050 {
					report.Log(LevelInfo, "half")
				}
			}
			time.Sleep(time.Hour) // stalled: what was said last must have been heard
			return Result{}, nil
		}})
		begun := time.Now()
		batches, heard := 0, int64(0)
		for sub := run.Subscribe(); ; batches++ {
			batch, err := sub.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			for _, p := range details[Progress](batch) {
				heard = p.Done
			}
			if len(details[Log](batch)) == 1 && time.Since(begun) != 5_051*time.Millisecond {
				t.Errorf("the line came after %v", time.Since(begun))
			}
			if heard == 9_999 && time.Since(begun) > 11*time.Second && len(details[Finished](batch)) == 0 {
				t.Errorf("the last progress came after %v", time.Since(begun))
			}
		}
		if heard != 9_999 || batches > 110 || batches < 90 {
			t.Errorf("%d batches, the last at %d", batches, heard)
		}
	})
}

func TestWaitingIsToldAgainAndKeptOnce(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	l := stranger()
	r.locker = l
	run := start(t, r, waiting("work", func(context.Context, Reporter) (Result, error) { return Result{}, nil }))
	<-l.asked
	sub := run.Subscribe()
	first, err := sub.Next(t.Context())
	must(t, err)
	if len(details[Waiting](first)) != 1 {
		t.Errorf("%v", first)
	}
	close(l.gone)
	for {
		more, err := sub.Next(t.Context())
		if err == io.EOF {
			break
		}
		must(t, err)
		if len(details[Waiting](more)) != 0 {
			t.Errorf("told twice: %v", more)
		}
	}
	if n := len(details[Waiting](hear(t, run))); n != 1 {
		t.Errorf("kept %d times", n)
	}
}
