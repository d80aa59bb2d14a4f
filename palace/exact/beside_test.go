package exact

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

func TestClosedSaysItInMemPalacesWords(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	p := w.to
	if err := w.Add(t.Context(), []backend.Record{record("a", "text", 1, 2)}); err != nil {
		t.Fatal(err)
	}
	must(t, p.Close())
	text := "x"
	for range 2 {
		for name, err := range map[string]error{
			"Add":              w.Add(t.Context(), []backend.Record{record("b", "text", 1, 2)}),
			"Add of nothing":   w.Add(t.Context(), nil),
			"Upsert":           w.Upsert(t.Context(), []backend.Record{record("b", "text", 1, 2)}),
			"Update":           w.Update(t.Context(), []backend.Change{{ID: "a", Document: &text}}),
			"Delete":           second(w.Delete(t.Context(), backend.Filter{IDs: []string{"a"}})),
			"SetEmbedder":      w.SetEmbedder(t.Context(), "minilm"),
			"Search":           second(w.Search(t.Context(), []float32{1, 2}, 1, backend.Filter{}, 0)),
			"LexicalSearch":    second(w.LexicalSearch(t.Context(), "text", 1, nil)),
			"Get":              second(w.Get(t.Context(), backend.Query{})),
			"CreateCollection": second(p.CreateCollection(t.Context(), backend.NewCollection{Name: "c"})),
			"DeleteCollection": p.DeleteCollection(t.Context(), "mempalace_drawers"),
			"Writer":           second(p.Writer(t.Context(), "mempalace_drawers")),
			"Collection":       second(p.Collection(t.Context(), "mempalace_drawers")),
		} {
			var closed *ClosedError
			if !errors.Is(err, backend.ErrClosed) || !errors.As(err, &closed) || !strings.Contains(err.Error(), "SQLiteExactCollection has been closed") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestAReaderOfItsOwnSeesWhatAWriterWrites has one handle that never writes: it
// is opened without sidecars, sees them come, stay and go.
func TestAReaderOfItsOwnSeesWhatAWriterWrites(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	reader := open(t, dir)
	c := drawers(t, reader)
	if reader.DB().Access() != dbfile.AccessImmutable {
		t.Fatalf("opened as %s", reader.DB().Access())
	}
	w := writer(t, dir, Writing{})
	before, err := c.Count(t.Context(), backend.Filter{})
	must(t, err)
	v := make([]float32, 16)
	expect := func(more int64) {
		t.Helper()
		n, err := c.Count(t.Context(), backend.Filter{})
		must(t, err)
		if n != before+more {
			t.Errorf("%d records, want %d, read as %s", n, before+more, reader.DB().Access())
		}
	}
	must(t, w.Add(t.Context(), []backend.Record{record("one", "text", v...)}))
	expect(1)

	// Somebody keeps the database open, as a MemPalace server does, and the sidecars stay.
	release, err := dbfile.Hold(t.Context(), w.to.DB().Facts().RealPath)
	must(t, err)
	defer release()
	db, err := sql.Open("sqlite", filepath.Join(dir, DatabaseFile))
	must(t, err)
	defer db.Close()
	_, err = db.Exec("UPDATE meta SET value = value")
	must(t, err)
	must(t, w.Add(t.Context(), []backend.Record{record("two", "text", v...)}))
	expect(2)
	if reader.DB().Access() != dbfile.AccessWAL {
		t.Errorf("with sidecars it reads as %s", reader.DB().Access())
	}
	err = w.to.write(t.Context(), func(tx *writeTx, _ query) error {
		must(t, tx.setMeta("k", "v"))
		expect(2)
		return errors.New("no")
	})
	if err == nil || err.Error() != "no" {
		t.Errorf("%v", err)
	}
	must(t, db.Close())
	release()
	must(t, w.Add(t.Context(), []backend.Record{record("three", "text", v...)}))
	expect(3)
	if got := ask(t, dir, "SELECT count(*) FROM meta WHERE key = 'k'"); got != "0" {
		t.Error("a write that failed was kept")
	}
}

func TestAtRestNothingIsLeftOpen(t *testing.T) {
	t.Parallel()
	w := fresh(t)
	must(t, w.Add(t.Context(), []backend.Record{record("a", "", 1)}))
	entries, err := os.ReadDir(w.to.dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("beside the database: %v", entries)
	}
}

func TestManyWritersAndReadersLoseNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "palace")
	first := create(t, dir)
	const writers, calls = 4, 12
	var group sync.WaitGroup
	for n := range writers {
		w := first
		if n%2 == 1 {
			w = writer(t, dir, Writing{Wait: time.Minute})
		}
		group.Go(func() {
			for i := range calls {
				id := fmt.Sprintf("w%d_%d", n, i)
				if err := w.Add(t.Context(), []backend.Record{record(id, "text", 1, float32(i)), record(id+"b", "text", 1, 2)}); err != nil {
					t.Error(err)
				}
				if i%3 == 2 {
					if n, err := w.Delete(t.Context(), backend.Filter{IDs: []string{id + "b"}}); n != 1 || err != nil {
						t.Errorf("%d deleted, %v", n, err)
					}
				}
			}
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		c := drawers(t, open(t, dir)).(*Collection)
		readers.Go(func() {
			for last := int64(0); ctx.Err() == nil; {
				n, err := c.Count(t.Context(), backend.Filter{WhereDocument: backend.TextMatch{Op: backend.Contains, Text: "text"}})
				var stale *dbfile.StaleError
				if err != nil && !errors.As(err, &stale) {
					t.Error(err)
					return
				}
				if err == nil && n < last-writers {
					t.Errorf("%d records after %d", n, last)
				}
				last = max(last, n)
			}
		})
	}
	group.Wait()
	stop()
	readers.Wait()
	n, err := first.Count(t.Context(), backend.Filter{})
	must(t, err)
	if want := int64(writers * (2*calls - calls/3)); n != want {
		t.Errorf("%d records, want %d", n, want)
	}
	sound(t, dir)
}

func TestABusyPalaceIsWaitedForOnlySoLong(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "palace")
	must(t, create(t, dir).to.Close())
	w := writer(t, dir, Writing{Wait: time.Nanosecond})
	release, err := dbfile.Hold(t.Context(), w.to.DB().Facts().RealPath)
	must(t, err)
	defer release()
	db, err := sql.Open("sqlite", filepath.Join(dir, DatabaseFile))
	must(t, err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must(t, err)
	var busy *BusyError
	if err := w.Add(t.Context(), []backend.Record{record("a", "", 1)}); !errors.As(err, &busy) || !errors.Is(err, dbfile.ErrBusy) {
		t.Errorf("%v", err)
	}
	w.to.writing.Wait = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := w.Add(ctx, []backend.Record{record("a", "", 1)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	must(t, err)
	must(t, w.Add(t.Context(), []backend.Record{record("a", "", 1)}))
}

func TestAFileThatTookThePlaceIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	dir, other := sample(t), sample(t)
	w := writer(t, dir, Writing{})
	must(t, os.Rename(filepath.Join(other, DatabaseFile), filepath.Join(dir, DatabaseFile)))
	var stale *dbfile.StaleError
	if err := w.Add(t.Context(), []backend.Record{record("a", "", make([]float32, 16)...)}); !errors.As(err, &stale) {
		t.Errorf("%v", err)
	}
	if n := ask(t, dir, "SELECT count(*) FROM documents WHERE id = 'a'"); n != "0" {
		t.Error("the other file was written to")
	}
}
