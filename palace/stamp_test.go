package palace

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

func TestEveryKindOfChangeShowsInTheStamp(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := closing(t, h.manager())
	dir := h.palace("p", "synced")
	p := h.open(m, dir)
	stamp, changed, err := p.Changed(t.Context(), Stamp{})
	if !changed || err != nil {
		t.Errorf("the first look: %v, %v", changed, err)
	}
	rows(t, p)
	if _, changed, err := p.Changed(t.Context(), stamp); changed || err != nil {
		t.Errorf("after mere reading: %v, %v", changed, err)
	}
	segment := filepath.Join(dir, "ed5a97e5-ec23-4c4c-8b23-b55d86f8dc35")
	later := time.Now().Add(time.Hour)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"index files written", func() error { return os.Chtimes(filepath.Join(segment, "header.bin"), later, later) }},
		{"segment put aside", func() error { return os.Rename(segment, segment+".drift-20260101-000000") }},
		{"database written", func() error { return write(t, filepath.Join(dir, "chroma.sqlite3")) }},
		{"database replaced", func() error {
			other := h.palace("other", "fresh")
			return os.Rename(filepath.Join(other, "chroma.sqlite3"), filepath.Join(dir, "chroma.sqlite3"))
		}},
	} {
		must(t, step.do())
		now, changed, err := p.Changed(t.Context(), stamp)
		if !changed || err != nil {
			t.Errorf("%s: %v, %v", step.name, changed, err)
		}
		if _, again, err := p.Changed(t.Context(), now); again || err != nil {
			t.Errorf("%s: changes once more by itself: %v, %v", step.name, again, err)
		}
		stamp = now
	}
	must(t, os.Remove(filepath.Join(dir, "chroma.sqlite3")))
	var gone *dbfile.FileError
	if _, _, err := p.Changed(t.Context(), stamp); !errors.As(err, &gone) {
		t.Errorf("without a database: %v", err)
	}
	must(t, os.Rename(dir, dir+".old"))
	var moved *MovedError
	if _, _, err := p.Changed(t.Context(), stamp); !errors.As(err, &moved) {
		t.Errorf("moved away: %v", err)
	}
}

// write commits something, as another program would.
func write(t *testing.T, path string) error {
	t.Helper()
	release, err := dbfile.Hold(t.Context(), path)
	if err != nil {
		return err
	}
	defer release()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	_, err = db.Exec("CREATE TABLE written (x)")
	return errors.Join(err, db.Close())
}

func BenchmarkRefreshOfAnUnchangedPalace(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "p")
	if err := os.CopyFS(dir, os.DirFS("../testdata/palaces/healthy/palace")); err != nil {
		b.Fatal(err)
	}
	m := NewManager(Options{})
	defer m.Close()
	p, err := m.Open(b.Context(), backend.Ref{Path: dir})
	if err != nil {
		b.Fatal(err)
	}
	stamp, _, err := p.Changed(b.Context(), Stamp{})
	for b.Loop() {
		if _, changed, err := p.Changed(b.Context(), stamp); changed || err != nil {
			b.Fatal(changed, err)
		}
	}
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkExamine(b *testing.B) {
	m := NewManager(Options{})
	for b.Loop() {
		if s := m.Examine(b.Context(), "../testdata/palaces/healthy/palace"); s.State != OK {
			b.Fatal(s.Err)
		}
	}
}
