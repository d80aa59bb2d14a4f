package locks

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

// wantLowered tells that nobody announces a wait any more.
func wantLowered(t testing.TB, h, p string) {
	t.Helper()
	f, err := grab(wantFile(Directory(h), Key(p)))
	if err != nil {
		t.Fatalf("the wait is over and still announced: %v", err)
	}
	if err := f.drop(); err != nil {
		t.Error(err)
	}
}

func TestAWaitThatRunsOutIsRefused(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	take(t, h, p)
	_, err := Take(t.Context(), Target{Path: p}, TakeOptions{Home: h, Wait: 20 * time.Millisecond})
	var held *HeldError
	if !errors.As(err, &held) || held.Palace != p || held.Path != File(Directory(h), Key(p)) {
		t.Fatalf("%v", err)
	}
	wantLowered(t, h, p)
	if got, want := string(body(t, wantFile(Directory(h), Key(p)))), "\x00"+wantBody(); got != want {
		t.Errorf("the wait was signed %q, want %q", got, want)
	}
}

func TestWithoutAWaitNothingIsAnnounced(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	take(t, h, p)
	refused(t, t.Context(), h, p)
	if _, err := os.Stat(wantFile(Directory(h), Key(p))); err == nil {
		t.Error("a .want file although nobody waits")
	}
}

func TestAWaitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	take(t, h, p)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opt := TakeOptions{Home: h, Wait: long, OnWait: func(Holder) { cancel() }}
	if _, err := Take(ctx, Target{Path: p}, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	wantLowered(t, h, p)

	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Take(ctx, Target{Path: p}, TakeOptions{Home: h, Wait: long}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended with %v", err)
	}
	wantLowered(t, h, p)
}

func TestAWaiterThatPanicsLeavesNothing(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	l := take(t, h, p)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		Take(t.Context(), Target{Path: p}, TakeOptions{Home: h, Wait: long, OnWait: func(Holder) { panic("screen") }})
	}()
	wantLowered(t, h, p)
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	free(t, h, p)
}

func TestAWaiterHoldsNoneOfTheKeysMeanwhile(t *testing.T) {
	t.Parallel()
	h := home(t)
	first, second := "0000000000000001", "0000000000000002"
	block, err := grab(File(Directory(h), second))
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Keys: []string{second, first}}
	told := 0
	l, err := Take(t.Context(), target, TakeOptions{Home: h, Wait: long, OnWait: func(Holder) {
		told++
		f, err := grab(File(Directory(h), first))
		if err != nil {
			t.Errorf("the free key is kept while waiting for the other: %v", err)
			return
		}
		// The wait is announced for the key that is waited for.
		if _, err := os.Stat(wantFile(Directory(h), first)); err == nil {
			t.Error("announced for a key that is free")
		}
		if err := errors.Join(f.drop(), block.drop()); err != nil {
			t.Error(err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if told != 1 || len(l.Keys()) != 2 {
		t.Errorf("told %d times, holds %v", told, l.Keys())
	}
}

// The .want file may be somebody else's for as long as they like.
func TestASecondWaiterWaitsAsWell(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	block := take(t, h, p)
	queued, err := grab(wantFile(Directory(h), Key(p)))
	if err != nil {
		t.Fatal(err)
	}
	defer queued.drop()
	l, err := Take(t.Context(), Target{Path: p}, TakeOptions{Home: h, Wait: long, OnWait: func(Holder) {
		if err := block.Release(); err != nil {
			t.Error(err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

func TestAWaitIsAnnouncedForOneKeyAtATime(t *testing.T) {
	t.Parallel()
	dir := Directory(home(t))
	first, second := wantFile(dir, "0000000000000001"), wantFile(dir, "0000000000000002")
	announced := func(path string) bool {
		f, err := grab(path)
		if err == nil {
			if err := f.drop(); err != nil {
				t.Error(err)
			}
			return false
		}
		if !errors.Is(err, errBusy) {
			t.Error(err)
		}
		return true
	}
	var d demand
	for _, step := range []struct {
		do            func()
		first, second bool
	}{
		{func() { d.raise(first) }, true, false},
		{func() { d.raise(first) }, true, false},
		{func() { d.raise(second) }, false, true},
		{d.lower, false, false},
		{d.lower, false, false},
		{func() { d.raise(second) }, false, true},
		{d.lower, false, false},
	} {
		step.do()
		if a, b := announced(first), announced(second); a != step.first || b != step.second {
			t.Errorf("announced %v and %v, want %+v", a, b, step)
		}
	}
}
