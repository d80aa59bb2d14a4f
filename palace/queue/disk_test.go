package queue

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
)

// fullDisk takes so many bytes and no more.
type fullDisk struct {
	w    io.Writer
	left *int
}

func (d fullDisk) Write(b []byte) (int, error) {
	n, err := d.w.Write(b[:min(len(b), *d.left)])
	*d.left -= n
	if err == nil && n < len(b) {
		err = syscall.ENOSPC
	}
	return n, err
}

func TestAFullDiskKeepsNothingHalf(t *testing.T) {
	t.Parallel()
	for _, room := range []int{0, 1, 100, 400} {
		q := open(t, Options{})
		park(t, q, entry("before", 0))
		left := room
		q.through = func(w io.Writer) io.Writer { return fullDisk{w, &left} }
		var store *StoreError
		_, err := q.Park(t.Context(), entry("a", 0))
		if !errors.As(err, &store) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free space") {
			t.Errorf("%d bytes free: %v", room, err)
		}
		if list := listed(t, q); len(list) != 1 || list[0].ID != "before" || list[0].State != StateWaiting {
			t.Errorf("%d bytes free: %+v", room, list)
		}
		// Nothing is applied whose beginning cannot be noted.
		left = 0
		a := &applier{}
		if d, err := q.Drain(t.Context(), a); !errors.As(err, &store) || len(a.got) != 0 || d.Left != 1 {
			t.Errorf("%d bytes free: %+v, %v", room, d, err)
		}
		q.through = func(w io.Writer) io.Writer { return w }
		park(t, q, entry("a", 0))
		if d, err := q.Drain(t.Context(), a); err != nil || d.Applied != 2 {
			t.Errorf("%+v, %v", d, err)
		}
		wantIDs(t, a.ids(), "before", "a")
		onlyLocks(t, q)
	}
}

// A disk that fills up while an entry is applied keeps neither the note of the
// refusal nor the entry from being tried again.
func TestARefusalThatCannotBeNotedIsTold(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	park(t, q, entry("a", 0))
	left := 1 << 20
	q.through = func(w io.Writer) io.Writer { return fullDisk{w, &left} }
	busy := errors.New("not now")
	_, err := q.Drain(t.Context(), &applier{refuse: func(Entry) error { left = 0; return busy }})
	if !errors.Is(err, busy) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v, want both", err)
	}
	if e := listed(t, q)[0]; e.State != StateUnknown || e.Attempts != 1 {
		t.Errorf("%+v", e)
	}
}
