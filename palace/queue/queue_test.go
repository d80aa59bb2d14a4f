package queue

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"castellan/palace/backend"
)

func TestTheSameIDParkedTwiceIsOneEntry(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	q := open(t, Options{Now: func() time.Time { at = at.Add(time.Second); return at }})
	first, err := q.Park(t.Context(), entry("a", 0))
	must(t, err)
	again, err := q.Park(t.Context(), entry("a", 0))
	must(t, err)
	if again.Name != first.Name || !again.QueuedAt.Equal(first.QueuedAt) {
		t.Errorf("%+v, want the first one, %+v", again, first)
	}
	var conflict *ConflictError
	if _, err := q.Park(t.Context(), entry("a", 1)); !errors.As(err, &conflict) {
		t.Errorf("another write under the same id: %v, want a ConflictError", err)
	}
	other := entry("a", 0)
	other.Collection = "elsewhere"
	if _, err := q.Park(t.Context(), other); !errors.As(err, &conflict) {
		t.Errorf("the same records for another collection: %v, want a ConflictError", err)
	}
	var without [2]Entry
	for i := range without {
		without[i], err = q.Park(t.Context(), entry("", 0))
		must(t, err)
	}
	if without[0].ID == "" || without[0].ID == without[1].ID {
		t.Errorf("ids %q and %q", without[0].ID, without[1].ID)
	}
	if n := len(listed(t, q)); n != 3 {
		t.Errorf("%d entries, want 3", n)
	}
}

func TestAListTellsWhatWaits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.FixedZone("here", 7200))
	q := open(t, Options{Now: func() time.Time { return now }})
	park(t, q, entry("a", 0), to("closets", "b"), entry("c", 3))
	list := listed(t, q)
	if len(list) != 3 {
		t.Fatalf("%d entries", len(list))
	}
	e := list[0]
	if e.ID != "a" || e.Palace != "/home/u/.mempalace/palace" || e.Operation != Upsert || e.Collection != "mempalace_drawers" ||
		e.Rows != 2 || !e.QueuedAt.Equal(now) || e.State != StateWaiting || e.Attempts != 0 || e.LastRefusal != "" || e.Records != nil {
		t.Errorf("%+v", e)
	}
	var sum int64
	for _, e := range list {
		info, err := os.Stat(q.path(e.Name + entrySuffix))
		must(t, err)
		if e.Bytes != info.Size() {
			t.Errorf("%s: %d bytes, want %d", e.ID, e.Bytes, info.Size())
		}
		sum += e.Bytes
	}
	if n, bytes, err := q.Count(); n != 3 || bytes != sum || err != nil {
		t.Errorf("count: %d, %d, %v; want 3, %d", n, bytes, err, sum)
	}
	if n, err := q.Pending("mempalace_drawers"); n != 2 || err != nil {
		t.Errorf("pending: %d, %v, want 2", n, err)
	}
}

func TestLookingMakesNothing(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	state := filepath.Dir(filepath.Dir(q.Dir()))
	if list := listed(t, q); len(list) != 0 {
		t.Errorf("%v", list)
	}
	if d, err := q.Drain(t.Context(), &applier{}); err != nil || d.Applied != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if list, err := All(state, Options{}); len(list) != 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := os.Lstat(state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory was made: %v", err)
	}
	park(t, q, entry("a", 0))
	list, err := All(state, Options{})
	must(t, err)
	if len(list) != 1 || list[0].Key() != testKey || len(listed(t, list[0])) != 1 {
		t.Errorf("all queues: %v", list)
	}
}

func TestOnlyItsOwnerReadsWhatWaits(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	park(t, q, entry("a", 0))
	_, err := q.Drain(t.Context(), &applier{refuse: func(Entry) error { return errors.New("not now") }})
	if err == nil {
		t.Error("the refusal was swallowed")
	}
	root := filepath.Dir(filepath.Dir(q.Dir()))
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	}))
}

func TestWhatDoesNotFitIsRefusedAndNotKept(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	big := entry("big", 0)
	big.Records[0].Document = &long
	for _, c := range []struct {
		what string
		o    Options
		list []Entry
	}{
		{"entry", Options{MaxEntry: 4000}, []Entry{big}},
		{"entries", Options{MaxEntries: 2}, []Entry{entry("a", 0), entry("b", 0), entry("c", 0)}},
		{"bytes", Options{MaxBytes: 5500}, []Entry{entry("a", 0), big}},
	} {
		q := open(t, c.o)
		last := len(c.list) - 1
		park(t, q, c.list[:last]...)
		var full *FullError
		if _, err := q.Park(t.Context(), c.list[last]); !errors.As(err, &full) || full.What != c.what || full.Have <= full.Limit {
			t.Errorf("%s: %v", c.what, err)
		}
		if n := len(listed(t, q)); n != last {
			t.Errorf("%s: %d entries, want %d", c.what, n, last)
		}
		if last > 0 { // one that is there already needs no room
			park(t, q, c.list[0])
		}
	}
}

func TestWhatNoEngineTakesIsNotParked(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	record := func(r ...backend.Record) Entry {
		e := entry("a", 0)
		e.Records = r
		return e
	}
	infinite := float32(math.Inf(1))
	for name, e := range map[string]Entry{
		"no id":            record(backend.Record{}),
		"an id twice":      record(backend.Record{ID: "a"}, backend.Record{ID: "a"}),
		"not finite":       record(backend.Record{ID: "a", Embedding: []float32{infinite}}),
		"no metadata type": record(backend.Record{ID: "a", Metadata: backend.Metadata{"k": 1}}),
	} {
		var invalid *backend.InvalidRecordError
		if _, err := q.Park(t.Context(), e); !errors.As(err, &invalid) {
			t.Errorf("%s: %v, want an InvalidRecordError", name, err)
		}
	}
	shapes := map[string]func(*Entry){
		"nothing":            func(e *Entry) { e.Records = nil },
		"another operation":  func(e *Entry) { e.Operation = "vacuum" },
		"records to delete":  func(e *Entry) { e.Operation = Delete },
		"two kinds of parts": func(e *Entry) { e.IDs = []string{"z"} },
		"no collection":      func(e *Entry) { e.Collection = "" },
		"no palace":          func(e *Entry) { e.Palace = "" },
		"a long id":          func(e *Entry) { e.ID = strings.Repeat("x", maxID+1) },
		"a line in the id":   func(e *Entry) { e.ID = "a\nb" },
		"a long collection":  func(e *Entry) { e.Collection = strings.Repeat("x", maxHead) },
	}
	for name, change := range shapes {
		e := entry("a", 0)
		change(&e)
		if _, err := q.Park(t.Context(), e); err == nil {
			t.Errorf("%s: parked", name)
		}
	}
	if n := len(listed(t, q)); n != 0 {
		t.Errorf("%d entries", n)
	}
}

func TestAWaitForTheQueueEndsWithItsContext(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	park(t, q, entry("a", 0))
	err := q.locked(t.Context(), func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := q.Park(ctx, entry("b", 0))
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want DeadlineExceeded", err)
	}
}

func TestAQueueNeedsAKeyAndAPlace(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"relative", testKey}, {"", testKey}, {t.TempDir(), "../../etc"}, {t.TempDir(), ""}} {
		if _, err := Open(c[0], c[1], Options{}); err == nil {
			t.Errorf("opened %q", c)
		}
	}
}
