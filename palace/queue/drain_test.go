package queue

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"castellan/locks"
	"castellan/palace/backend"
)

func TestEntriesAreAppliedInTheirOrderAndGone(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	park(t, q, to("a", "1"), to("b", "2"), to("a", "3"), to("b", "4"))
	a := &applier{}
	d, err := q.Drain(t.Context(), a)
	must(t, err)
	if d.Applied != 4 || d.Left != 0 || len(d.SetAside) != 0 {
		t.Errorf("%+v", d)
	}
	wantIDs(t, a.ids(), "1", "2", "3", "4")
	onlyLocks(t, q)
}

func TestAHeldPalaceStopsEverythingAndLosesNothing(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{
		"held":   &locks.HeldError{Palace: "/p", Holder: locks.Holder{Process: locks.Process{PID: 7, Command: "mempalace mine"}}},
		"closed": fmt.Errorf("/p: %w", backend.ErrClosed),
	} {
		q := open(t, Options{})
		park(t, q, to("a", "1"), to("b", "2"))
		a := &applier{refuse: func(Entry) error { return refusal }}
		for attempt := 1; attempt <= 2; attempt++ {
			d, err := q.Drain(t.Context(), a)
			var refused *RefusedError
			if !errors.Is(err, refusal) || !errors.As(err, &refused) || refused.Entry.ID != "1" || refused.Entry.Records != nil {
				t.Errorf("%s: %v", name, err)
			}
			if d.Applied != 0 || d.Left != 2 {
				t.Errorf("%s: %+v", name, d)
			}
			list := listed(t, q)
			if e := list[0]; e.Attempts != attempt || e.LastRefusal != refusal.Error() || e.State != StateWaiting {
				t.Errorf("%s: %+v", name, e)
			}
			if e := list[1]; e.Attempts != 0 {
				t.Errorf("%s: the second was tried: %+v", name, e)
			}
		}
		wantIDs(t, a.ids(), "1", "1")
	}
}

func TestARefusalKeepsTheOrderOfItsCollectionAndStopsNoOther(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	park(t, q, to("a", "1"), to("b", "2"), to("a", "3"), to("b", "4"))
	busy := errors.New("not now")
	a := &applier{refuse: func(e Entry) error {
		if e.Collection == "a" {
			return busy
		}
		return nil
	}}
	d, err := q.Drain(t.Context(), a)
	if !errors.Is(err, busy) || d.Applied != 2 || d.Left != 2 {
		t.Errorf("%+v, %v", d, err)
	}
	wantIDs(t, a.ids(), "1", "2", "4")
	a = &applier{}
	if d, err = q.Drain(t.Context(), a); err != nil || d.Left != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	wantIDs(t, a.ids(), "1", "3")
}

func TestAnInvalidWriteIsSetAsideAndNamed(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{
		"by the engine":  &backend.InvalidRecordError{ID: "a", Reason: "its vector has 3 floats"},
		"by the applier": fmt.Errorf("no such thing: %w", ErrInvalid),
	} {
		q := open(t, Options{})
		names := park(t, q, to("a", "1"), to("b", "2"), to("a", "3"))
		a := &applier{refuse: func(e Entry) error {
			if e.ID == "1" {
				return refusal
			}
			return nil
		}}
		d, err := q.Drain(t.Context(), a)
		if err != nil || d.Applied != 1 || d.Left != 2 || len(d.SetAside) != 1 || d.SetAside[0].Name != names[0] || d.SetAside[0].LastRefusal != refusal.Error() {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		// It is not tried again by itself, and what comes behind it waits.
		if d, err = q.Drain(t.Context(), a); err != nil || d.Left != 2 || len(d.SetAside) != 0 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		wantIDs(t, a.ids(), "1", "2")
		if e := listed(t, q)[0]; e.State != StateSetAside || e.Attempts != 1 || e.LastRefusal != refusal.Error() {
			t.Errorf("%s: %+v", name, e)
		}
		if name == "by the engine" {
			must(t, q.Drop(t.Context(), names[0]))
		} else {
			refusal = nil
			must(t, q.Retry(t.Context(), names[0]))
			a.refuse = nil
		}
		if d, err = q.Drain(t.Context(), a); err != nil || d.Left != 0 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		onlyLocks(t, q)
	}
}

func TestAnUnknownOutcomeIsKeptAndTold(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	e := to("a", "1")
	e.State = StateUnknown // it was sent, and nobody answered
	kept, err := q.Park(t.Context(), e)
	must(t, err)
	if kept.State != StateUnknown {
		t.Errorf("%+v", kept)
	}
	answers := []error{
		fmt.Errorf("timed out: %w", ErrOutcomeUnknown),
		&locks.HeldError{Palace: "/p"}, // says nothing about the time before
		nil,
	}
	a := &applier{refuse: func(Entry) error { err := answers[0]; answers = answers[1:]; return err }}
	for range 3 {
		_, err = q.Drain(t.Context(), a)
	}
	must(t, err)
	for i, e := range a.got {
		if e.State != StateUnknown || e.Attempts != i+1 || len(e.Records) == 0 {
			t.Errorf("attempt %d: %+v", i, e)
		}
	}
	if len(a.got) != 3 {
		t.Errorf("%d attempts", len(a.got))
	}
}

func TestAnApplierThatPanicsLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	park(t, q, to("a", "1"))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		q.Drain(t.Context(), &applier{refuse: func(Entry) error { panic("the engine broke") }})
	}()
	if e := listed(t, q)[0]; e.State != StateUnknown || e.Attempts != 1 {
		t.Errorf("%+v", e)
	}
	a := &applier{}
	if d, err := q.Drain(t.Context(), a); err != nil || d.Applied != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if a.got[0].State != StateUnknown {
		t.Error("the applier was not told")
	}
}

func TestACancelledDrainNotesWhatItDid(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	park(t, q, to("a", "1"), to("b", "2"), to("c", "3"))
	ctx, cancel := context.WithCancel(t.Context())
	a := &applier{refuse: func(e Entry) error {
		if e.ID == "2" {
			cancel()
			return ctx.Err()
		}
		return nil
	}}
	d, err := q.Drain(ctx, a)
	if !errors.Is(err, context.Canceled) || d.Applied != 1 || d.Left != 2 {
		t.Errorf("%+v, %v", d, err)
	}
	list := listed(t, q)
	if list[0].ID != "2" || list[0].Attempts != 1 || list[0].State != StateWaiting || list[1].Attempts != 0 {
		t.Errorf("%+v", list)
	}
	// One that is cancelled during its last write still removes the entry.
	ctx, cancel = context.WithCancel(t.Context())
	d, err = q.Drain(ctx, &applier{refuse: func(Entry) error { cancel(); return nil }})
	if !errors.Is(err, context.Canceled) || d.Applied != 1 || d.Left != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestWhatIsParkedMeanwhileIsAppliedToo(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	park(t, q, to("a", "1"))
	a := &applier{}
	a.refuse = func(e Entry) error {
		if e.ID == "1" && len(a.got) == 1 {
			// The same write again, while it is being made, is still one.
			park(t, q, to("a", "1"), to("a", "2"))
		}
		return nil
	}
	if d, err := q.Drain(t.Context(), a); err != nil || d.Applied != 2 || d.Left != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	wantIDs(t, a.ids(), "1", "2")
}

func TestOneDrainAtATime(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	names := park(t, q, to("a", "1"))
	other, err := Open(filepath.Dir(filepath.Dir(q.Dir())), testKey, Options{})
	must(t, err)
	a := &applier{refuse: func(Entry) error {
		_, err := other.Drain(t.Context(), &applier{})
		for what, err := range map[string]error{"drain": err, "drop": other.Drop(t.Context(), names[0]), "retry": other.Retry(t.Context(), names[0])} {
			if !errors.Is(err, ErrDraining) {
				t.Errorf("%s: %v, want ErrDraining", what, err)
			}
		}
		return nil
	}}
	if d, err := q.Drain(t.Context(), a); err != nil || d.Applied != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestDropTakesTheNamedEntryOnly(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	names := park(t, q, to("a", "1"), to("a", "2"))
	for _, name := range []string{"", "../../etc/passwd", "0000000000000009-" + strings.Repeat("0", 16) + "-" + strings.Repeat("0", 16)} {
		if err := q.Drop(t.Context(), name); err == nil {
			t.Errorf("dropped %q", name)
		}
	}
	must(t, q.Drop(t.Context(), names[0]))
	list := listed(t, q)
	if len(list) != 1 || list[0].ID != "2" {
		t.Errorf("%+v", list)
	}
	if slices.Contains(names[1:], names[0]) {
		t.Error("two entries share a name")
	}
}
