package chroma

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/dbfile"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// writer opens a collection for writing. alone is what is said of others.
func writer(t testing.TB, p *Palace, name string, alone bool) *Writer {
	t.Helper()
	c, err := p.Writable(answering(alone)).Writer(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func answering(alone bool) Writing {
	return Writing{Alone: func(context.Context) (bool, error) { return alone, nil }}
}

// eachShape runs a test alone in the palace and with others in it.
func eachShape(t *testing.T, do func(t *testing.T, alone bool)) {
	for _, alone := range []bool{true, false} {
		t.Run(map[bool]string{true: "alone", false: "others"}[alone], func(t *testing.T) {
			t.Parallel()
			do(t, alone)
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ptr[T any](v T) *T { return &v }

func TestWhatIsWrittenIsRead(t *testing.T) {
	eachShape(t, func(t *testing.T, alone bool) {
		dir := sample(t, "fresh")
		c := writer(t, open(t, dir), "mempalace_drawers", alone)
		before := walk(t, c, backend.Query{Include: everyPart})
		a, b, gone := before[0], before[1], before[2]
		lists := backend.Metadata{"ls": []string{"x", "", "y"}, "li": []int64{1 << 60, -1}, "lf": []float64{1, 2.5}, "lb": []bool{true, false}}
		must(t, c.Add(t.Context(), []backend.Record{
			{ID: a.ID, Embedding: vectorOf(9), Document: ptr("ignored"), Metadata: backend.Metadata{"wing": "ignored"}},
			{ID: "new", Embedding: vectorOf(1), Document: ptr("a text"), URI: ptr("file://x"), Metadata: lists},
			{ID: "bare", Embedding: vectorOf(2)},
		}))
		must(t, c.Upsert(t.Context(), []backend.Record{
			{ID: b.ID, Embedding: vectorOf(3), Metadata: backend.Metadata{"wing": int64(9007199254740993), "whole": 3.0, "flag": true}},
			{ID: "empty", Embedding: vectorOf(4), Document: ptr("")},
		}))
		must(t, c.Update(t.Context(), []backend.Change{
			{ID: "unknown", Document: ptr("ignored"), Embedding: vectorOf(9)},
			{ID: "new", Metadata: backend.Metadata{"ls": "no list", "again": []string{"l"}}, Unset: []string{"li", "absent"}},
			{ID: "bare", Embedding: vectorOf(5), Document: ptr("now with text")},
		}))
		n, err := c.Delete(t.Context(), backend.Filter{IDs: []string{gone.ID, "never there"}})
		if err != nil || n != 1 {
			t.Fatalf("%d deleted, %v", n, err)
		}
		changed := backend.Metadata{"wing": int64(9007199254740993), "whole": 3.0, "flag": true}
		for key, v := range b.Metadata {
			if key != "wing" {
				changed[key] = v
			}
		}
		b.Metadata, b.Embedding = changed, vectorOf(3)
		want := append([]backend.Record{a, b}, before[3:]...)
		want = append(want,
			backend.Record{ID: "new", Embedding: vectorOf(1), Document: ptr("a text"), URI: ptr("file://x"), Metadata: backend.Metadata{
				"ls": "no list", "again": []string{"l"}, "lf": []float64{1, 2.5}, "lb": []bool{true, false}}},
			backend.Record{ID: "bare", Embedding: vectorOf(5), Document: ptr("now with text")},
			backend.Record{ID: "empty", Embedding: vectorOf(4), Document: ptr("")},
		)
		for _, p := range []*Palace{c.p, open(t, dir)} {
			if d := cmp.Diff(want, walk(t, collection(t, p, "mempalace_drawers"), backend.Query{Include: everyPart})); d != "" {
				t.Error(d)
			}
		}
		soundAfter(t, dir)
	})
}

// soundAfter holds the database against SQLite's and the full-text index's own
// checks, and the positions against the queue.
func soundAfter(t testing.TB, dir string) {
	t.Helper()
	p := open(t, dir)
	check, err := p.CheckDatabase(t.Context(), Check{})
	if err != nil || len(check.Damage) > 0 || check.TextErr != nil || len(check.Text.Damage) > 0 {
		t.Fatalf("%+v, %v", check, err)
	}
	f, err := p.Facts(t.Context(), Full)
	must(t, err)
	for table, n := range f.OrphanRows {
		if n > 0 {
			t.Errorf("%d orphan rows in %s", n, table)
		}
	}
	if len(f.Unread) > 0 || f.Queue.FaultCount > 0 {
		t.Errorf("unread %v, faults %v", f.Unread, f.Queue.Faults)
	}
	if f.Queue.Highest != nil && *f.Queue.Highest < f.HighestPosition {
		t.Errorf("the queue ends at %d, below position %d", *f.Queue.Highest, f.HighestPosition)
	}
	for _, c := range f.Collections {
		if c.Coverage == nil || c.Coverage.Missing > 0 {
			t.Errorf("%s: %+v", c.Row.Name, c.Coverage)
		}
	}
}

func TestAFilterIsResolvedAsItReads(t *testing.T) {
	eachShape(t, func(t *testing.T, alone bool) {
		dir := sample(t, "healthy")
		c := writer(t, open(t, dir), "mempalace_drawers", alone)
		must(t, c.Upsert(t.Context(), []backend.Record{
			{ID: "one", Embedding: vectorOf(1), Document: ptr("alpha"), Metadata: backend.Metadata{"wing": "doomed"}},
			{ID: "two", Embedding: vectorOf(1), Document: ptr("beta"), Metadata: backend.Metadata{"wing": "doomed"}},
		}))
		must(t, c.Update(t.Context(), []backend.Change{{ID: "two", Metadata: backend.Metadata{"wing": "spared"}}}))
		n, err := c.Delete(t.Context(), parse(t, `{"wing":"doomed"}`, `{"$contains":"a"}`))
		if err != nil || n != 1 {
			t.Fatalf("%d deleted, %v", n, err)
		}
		if n, err := c.Count(t.Context(), backend.Filter{}); err != nil || n != 1501 {
			t.Fatalf("%d left, %v", n, err)
		}
		n, err = c.Delete(t.Context(), parse(t, `{"nothing":"here"}`, ""))
		if err != nil || n != 0 {
			t.Fatalf("%d deleted, %v", n, err)
		}
		var refused *backend.UnsupportedFilterError
		for _, f := range []backend.Filter{{}, {Where: backend.And{}}, {Where: backend.And{backend.And{}}, WhereDocument: backend.AndText{}}} {
			if n, err := c.Delete(t.Context(), f); !errors.As(err, &refused) {
				t.Errorf("%#v: %d deleted, %v", f, n, err)
			}
		}
		soundAfter(t, dir)
	})
}

func TestWaitingWritesOfOthersAreAppliedFirst(t *testing.T) {
	dir := sample(t, "fresh")
	p := open(t, dir)
	c := writer(t, p, "mempalace_drawers", true)
	for i := range 1200 {
		enqueue(t, dir, c.row.Topic(), OpUpsert, fmt.Sprint("w", i%700), vectorOf(float32(i)), fmt.Sprintf(`{"n":%d,"k%d":1}`, i, i/700))
	}
	enqueue(t, dir, c.row.Topic(), OpDelete, "w0", nil, "{}")
	want := walk(t, c, backend.Query{Include: everyPart})
	must(t, c.Upsert(t.Context(), []backend.Record{{ID: "mine", Embedding: vectorOf(1)}}))
	want = append(want, backend.Record{ID: "mine", Embedding: vectorOf(1)})
	if d := cmp.Diff(want, walk(t, c, backend.Query{Include: everyPart})); d != "" {
		t.Error(d)
	}
	after := collection(t, open(t, dir), "mempalace_drawers")
	if after.row.maxSeqID(ScopeMetadata) != 5+1201+1 {
		t.Errorf("the position is %d", after.row.maxSeqID(ScopeMetadata))
	}
	soundAfter(t, dir)
}

func TestAClosedPalaceWritesNothing(t *testing.T) {
	dir := sample(t, "fresh")
	p := open(t, dir)
	c := writer(t, p, "mempalace_drawers", true)
	must(t, p.Close())
	_, deleted := c.Delete(t.Context(), backend.Filter{IDs: []string{"a"}})
	for name, err := range map[string]error{
		"add":     c.Add(t.Context(), []backend.Record{{ID: "a", Embedding: vectorOf(1)}}),
		"nothing": c.Upsert(t.Context(), nil),
		"update":  c.Update(t.Context(), []backend.Change{{ID: "a"}}),
		"delete":  deleted,
	} {
		if !errors.Is(err, backend.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAWriteGoesToTheFileThatWasOpened(t *testing.T) {
	dir, other := sample(t, "fresh"), sample(t, "fresh")
	c := writer(t, open(t, dir), "mempalace_drawers", true)
	swap(t, dir, other)
	var stale *dbfile.StaleError
	if err := c.Add(t.Context(), []backend.Record{{ID: "a", Embedding: vectorOf(1)}}); !errors.As(err, &stale) {
		t.Fatal(err)
	}
	if n, err := collection(t, open(t, dir), "mempalace_drawers").Count(t.Context(), backend.Filter{}); err != nil || n != 5 {
		t.Errorf("%d records, %v", n, err)
	}
}

// swap puts another palace's database in the place of one.
func swap(t *testing.T, dir, other string) {
	t.Helper()
	must(t, os.Rename(filepath.Join(other, DatabaseFile), filepath.Join(dir, DatabaseFile)))
}

// holding keeps a transaction of another connection open until end is called.
func holding(t *testing.T, dir, statements string) (end func()) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, DatabaseFile))
	must(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec(statements)
	must(t, err)
	return func() { must(t, db.Close()) }
}

// A queue that was emptied by hand would give out numbers below the positions:
// Chroma acknowledges such a write and then purges it unseen.
func TestNumbersLieAboveEveryPosition(t *testing.T) {
	eachShape(t, func(t *testing.T, alone bool) {
		dir := sample(t, "synced")
		alter(t, dir, "DELETE FROM embeddings_queue", "INSERT INTO max_seq_id (segment_id, seq_id) VALUES ('of another', 9000), ('poisoned', 1229822654365841720)")
		c := writer(t, open(t, dir), "mempalace_drawers", alone)
		must(t, c.Upsert(t.Context(), []backend.Record{{ID: "a", Embedding: vectorOf(1), Metadata: backend.Metadata{"k": "v"}}}))
		if n, err := c.Count(t.Context(), parse(t, `{"k":"v"}`, "")); err != nil || n != 1 {
			t.Errorf("%d found, %v", n, err)
		}
		f, err := c.p.Facts(t.Context(), Sampled)
		must(t, err)
		if *f.Queue.Lowest != 9001 || *f.Queue.Highest != 9001 {
			t.Errorf("numbers %d to %d", *f.Queue.Lowest, *f.Queue.Highest)
		}
	})
}

// Chroma deletes a collection and leaves its list metadata, whose record
// numbers are given out again.
func TestANewRecordShowsNothingOfADeadOne(t *testing.T) {
	dir := sample(t, "fresh")
	alter(t, dir,
		"INSERT INTO embedding_metadata_array (id, key, string_value) SELECT max(id) + 1, 'ghost', 'x' FROM embeddings",
		"INSERT INTO embedding_metadata (id, key, string_value) SELECT max(id) + 1, 'ghost', 'x' FROM embeddings",
		"INSERT INTO embedding_fulltext_search (rowid, string_value) SELECT max(id) + 1, 'ghost' FROM embeddings")
	c := writer(t, open(t, dir), "mempalace_drawers", true)
	want := backend.Record{ID: "a", Embedding: vectorOf(1), Document: ptr("alive"), Metadata: backend.Metadata{"k": "v"}}
	must(t, c.Add(t.Context(), []backend.Record{want}))
	list := walk(t, c, backend.Query{Filter: backend.Filter{IDs: []string{"a"}}, Include: everyPart})
	if d := cmp.Diff([]backend.Record{want}, list); d != "" {
		t.Error(d)
	}
	soundAfter(t, dir)
}

// The row of a document with a NUL is indexed by Chroma's SQLite in its own way.
func TestADocumentWithANULIsLeftToChromaToApply(t *testing.T) {
	dir := sample(t, "fresh")
	c := writer(t, open(t, dir), "mempalace_drawers", true)
	must(t, c.Add(t.Context(), []backend.Record{{ID: "a", Embedding: vectorOf(1), Document: ptr("one\x00two")}, {ID: "b", Embedding: vectorOf(1)}}))
	must(t, c.Update(t.Context(), []backend.Change{{ID: "b", Document: ptr("plain")}}))
	if f, err := c.p.Facts(t.Context(), Sampled); err != nil || f.Collections[0].Unapplied != 3 {
		t.Errorf("%+v, %v", f.Collections[0], err)
	}
	list := walk(t, c, backend.Query{Filter: backend.Filter{IDs: []string{"a", "b"}}, Include: backend.Documents})
	if d := cmp.Diff([]backend.Record{{ID: "a", Document: ptr("one\x00two")}, {ID: "b", Document: ptr("plain")}}, list); d != "" {
		t.Error(d)
	}
	soundAfter(t, dir)
}

func TestWritersOfOneProgramTakeTurns(t *testing.T) {
	dir := sample(t, "fresh")
	p := open(t, dir)
	var group errgroup.Group
	for n := range 6 {
		c := writer(t, p, "mempalace_drawers", n%2 == 0)
		group.Go(func() error {
			for i := range 5 {
				id := fmt.Sprint(n, "-", i)
				if err := c.Upsert(t.Context(), []backend.Record{{ID: id, Embedding: vectorOf(1), Metadata: backend.Metadata{"n": int64(n)}}, {ID: "shared", Embedding: vectorOf(2)}}); err != nil {
					return err
				}
				if got, err := c.Count(t.Context(), backend.Filter{IDs: []string{id}}); err != nil || got != 1 {
					return fmt.Errorf("%d of %s, %w", got, id, err)
				}
			}
			return nil
		})
	}
	must(t, group.Wait())
	if n, err := collection(t, p, "mempalace_drawers").Count(t.Context(), backend.Filter{}); err != nil || n != 5+30+1 {
		t.Errorf("%d records, %v", n, err)
	}
	soundAfter(t, dir)
}

func TestAPalaceInWALModeIsWrittenTo(t *testing.T) {
	eachShape(t, func(t *testing.T, alone bool) {
		dir := sample(t, "fresh")
		alter(t, dir, "PRAGMA journal_mode = WAL")
		c := writer(t, open(t, dir), "mempalace_drawers", alone)
		for i := range 3 {
			must(t, c.Upsert(t.Context(), []backend.Record{{ID: fmt.Sprint(i), Embedding: vectorOf(1), Document: ptr("x")}}))
			if n, err := c.Count(t.Context(), backend.Filter{}); err != nil || int(n) != 6+i {
				t.Errorf("%d, %v", n, err)
			}
		}
		soundAfter(t, dir)
	})
}
