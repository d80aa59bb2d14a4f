package undo

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestWhatIsKeptComesBackAsItWas(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	s := store(t, Options{Now: func() time.Time { return at }})
	if _, err := s.Newest(); !errors.Is(err, ErrNothing) {
		t.Errorf("an empty store says %v", err)
	}
	if _, err := os.Stat(s.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Error("looking has made a directory")
	}
	id := kept(t, s, "a\x00\xff")
	e, err := s.Newest()
	must(t, err)
	if e.ID != id || e.Kind != Delete || e.Palace != "/palaces/work" || !e.At.Equal(at) || e.Summary != "1 row" || e.Bytes != 3 || e.Outcome != nil || !e.Undoable() {
		t.Errorf("%+v", e)
	}
	if got := content(t, s, e); got != "a\x00\xff" {
		t.Errorf("content %q", got)
	}
	must(t, s.Settle(id, map[string]int{"rows": 7}))
	must(t, s.Settle(id, map[string]int{"rows": 8})) // the first word stays
	e, err = s.Entry(id)
	must(t, err)
	if string(e.Outcome) != `{"rows":7}` {
		t.Errorf("outcome %s", e.Outcome)
	}
}

func TestTheNewestThatWasNotUndoneComesFirst(t *testing.T) {
	t.Parallel()
	// The clock goes backwards: order is by number.
	at := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	s := store(t, Options{Now: func() time.Time { at = at.Add(-time.Hour); return at }})
	first, second := kept(t, s, "1"), kept(t, s, "2")
	e, err := s.Newest()
	must(t, err)
	if e.ID != second {
		t.Errorf("newest is %s, want %s", e.ID, second)
	}
	must(t, s.MarkUndone(second))
	must(t, s.MarkUndone(second))
	e, err = s.Newest()
	must(t, err)
	if e.ID != first {
		t.Errorf("newest is %s, want %s", e.ID, first)
	}
	must(t, s.MarkUndone(first))
	if _, err := s.Newest(); !errors.Is(err, ErrNothing) {
		t.Errorf("all is undone, and it says %v", err)
	}
	list, err := s.List()
	must(t, err)
	if len(list) != 2 || list[0].ID != second || list[0].Undone.IsZero() || list[1].Undone.IsZero() {
		t.Errorf("%+v", list)
	}
}

func TestAnEntryIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	s := store(t, Options{})
	id := kept(t, s, "first")
	if stale, err := s.Stale(id); err != nil || !stale {
		t.Errorf("an id in use is not stale: %v", err)
	}
	if err := keep(s, id, "second"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second entry under the same name: %v", err)
	}
	e, err := s.Newest()
	must(t, err)
	if got := content(t, s, e); got != "first" {
		t.Errorf("content %q", got)
	}
	for _, name := range []string{"", "../x", "entry.json", "undone.json", ".tmp-x", "a/b", "UP"} {
		d, err := s.Begin("000009-20260101-000000", Repair, "/p", "x")
		must(t, err)
		if _, err := d.Create(name); err == nil {
			t.Errorf("a file %q was made", name)
		}
		must(t, d.Discard())
	}
	if _, err := s.Begin("../../x", Delete, "/p", "x"); err == nil {
		t.Error("an entry beyond the store was begun")
	}
}

func TestTheOldestGoFirstAndTheNewestNever(t *testing.T) {
	t.Parallel()
	s := store(t, Options{MaxEntries: 3, MaxBytes: 10})
	for range 5 {
		kept(t, s, "123")
	}
	list, err := s.List()
	must(t, err)
	if len(list) != 3 || !strings.HasPrefix(list[2].ID, "000003-") {
		t.Errorf("%+v", list)
	}
	huge := kept(t, s, strings.Repeat("x", 100))
	list, err = s.List()
	must(t, err)
	if len(list) != 1 || list[0].ID != huge {
		t.Errorf("%+v", list)
	}
}

func TestOnlyTheUserCanReadIt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing there")
	}
	s := store(t, Options{})
	id := kept(t, s, "secret")
	must(t, s.Settle(id, 1))
	must(t, filepath.WalkDir(filepath.Dir(filepath.Dir(s.Dir())), func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if filepath.Dir(path) != filepath.Dir(filepath.Dir(filepath.Dir(s.Dir()))) && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	}))
}

func TestDamageIsNamedAndNothingOlderTakesItsPlace(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(dir string) error{
		"no description":  func(dir string) error { return os.Remove(filepath.Join(dir, entryFile)) },
		"cut description": func(dir string) error { return os.Truncate(filepath.Join(dir, entryFile), 20) },
		"huge":            func(dir string) error { return os.Truncate(filepath.Join(dir, entryFile), maxNote+1) },
		"outcome": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, outcomeFile), []byte("{"), 0o600)
		},
		"other version": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, entryFile), []byte(`{"version":99}`), 0o600)
		},
		"a name that leads away": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, entryFile), []byte(`{"version":1,"files":[{"name":"../../x","bytes":1}]}`), 0o600)
		},
		"a directory": func(dir string) error {
			path := filepath.Join(dir, entryFile)
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := store(t, Options{})
			kept(t, s, "older")
			id := kept(t, s, "newer")
			must(t, damage(s.Path(id)))
			var damaged *DamagedError
			if e, err := s.Newest(); !errors.As(err, &damaged) || e.ID != id || e.Undoable() {
				t.Errorf("%+v, %v", e, err)
			}
			list, err := s.List()
			must(t, err)
			if len(list) != 2 || list[1].Problem != nil {
				t.Errorf("%+v", list)
			}
		})
	}
}

func TestADamagedFileIsNotReadAtAll(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"another byte": func(path string) error { return os.WriteFile(path, []byte("contenT"), 0o600) },
		"cut":          func(path string) error { return os.Truncate(path, 3) },
		"gone":         os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := store(t, Options{})
			id := kept(t, s, "content")
			must(t, damage(filepath.Join(s.Path(id), "rows.jsonl")))
			e, err := s.Newest()
			must(t, err)
			var damaged *DamagedError
			if _, err := s.Open(e, "rows.jsonl"); !errors.As(err, &damaged) {
				t.Errorf("%v", err)
			}
			if _, err := s.Open(e, "other"); !errors.As(err, &damaged) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAKillLeavesWholeEntriesOrNone(t *testing.T) {
	t.Parallel()
	for step := 1; ; step++ {
		state := filepath.Join(t.TempDir(), "castellan")
		wasKilled := killed(t, state, step)
		s, err := Open(state, testKey, Options{})
		must(t, err)
		list, err := s.List()
		must(t, err)
		for _, e := range list {
			if e.Problem != nil {
				t.Errorf("step %d: %v", step, e.Problem)
				continue
			}
			if got := content(t, s, e); !strings.HasPrefix(got, "content ") {
				t.Errorf("step %d: content %q", step, got)
			}
		}
		// The next one tidies, and comes after what is there.
		id := kept(t, s, "next")
		if newest, err := s.Newest(); err != nil || newest.ID != id {
			t.Errorf("step %d: %+v, %v", step, newest, err)
		}
		entries, err := os.ReadDir(s.Dir())
		must(t, err)
		for _, e := range entries {
			if _, ok := number(e.Name()); !ok {
				t.Errorf("step %d: left behind: %s", step, e.Name())
			}
		}
		if !wasKilled {
			if step < 20 {
				t.Errorf("only %d steps: the process was not killed where it should be", step)
			}
			return
		}
	}
}

func TestADraftThatIsGivenUpLeavesNothing(t *testing.T) {
	t.Parallel()
	s := store(t, Options{})
	d, err := s.Begin("000001-20260101-000000", Delete, "/p", "x")
	must(t, err)
	w, err := d.Create("rows.jsonl")
	must(t, err)
	_, err = io.WriteString(w, "half")
	must(t, err)
	if _, err := d.Commit("x"); err == nil {
		t.Error("committed with a file that is still open")
	}
	must(t, d.Discard())
	entries, err := os.ReadDir(s.Dir())
	must(t, err)
	if len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}
