package health

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"castellan/palace"

	_ "modernc.org/sqlite"
)

func TestARefreshSeesWhatWasWrittenSince(t *testing.T) {
	dir := makeSpecimen(t, "never-flushed")
	e := examinerIn(t, t.TempDir())
	found := palace.Found{Ref: e.opts.Manager.Examine(context.Background(), dir).Ref}
	look := func() int64 {
		r := e.Report(context.Background(), found, Sampled)
		if len(r.Collections) != 1 || r.Collections[0].Rows == nil {
			t.Fatalf("%+v", r)
		}
		return *r.Collections[0].Rows
	}
	before := look()
	if again := look(); again != before {
		t.Fatal(again)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "chroma.sqlite3"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("DELETE FROM embeddings WHERE id = (SELECT min(id) FROM embeddings)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if now := look(); now != before-1 {
		t.Fatalf("%d rows before, %d after one was deleted", before, now)
	}
	// And a palace that is gone and comes back.
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if r := e.Report(context.Background(), found, Sampled); r.Palace.State != Missing || r.Error == nil {
		t.Fatal(r.Palace.State)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	if now := look(); now != before-1 {
		t.Fatal(now)
	}
}

// bigPalace names a large palace; go run ./testdata/genpalace makes one.
func bigPalace(b *testing.B) (*Examiner, palace.Found) {
	dir := os.Getenv("CASTELLAN_BIG_PALACE")
	if dir == "" {
		b.Skip("CASTELLAN_BIG_PALACE is not set")
	}
	e := examinerIn(b, b.TempDir())
	return e, palace.Found{Ref: e.opts.Manager.Examine(context.Background(), dir).Ref}
}

// BenchmarkRefreshUnchanged is what the screens do every two seconds.
func BenchmarkRefreshUnchanged(b *testing.B) {
	e, found := bigPalace(b)
	e.Report(context.Background(), found, Sampled)
	for b.Loop() {
		e.Report(context.Background(), found, Sampled)
	}
}

// BenchmarkStatus reads everything again each time.
func BenchmarkStatus(b *testing.B) {
	e, found := bigPalace(b)
	for b.Loop() {
		clear(e.kept)
		e.Report(context.Background(), found, Sampled)
	}
}

// BenchmarkDoctor reads everything, each time.
func BenchmarkDoctor(b *testing.B) {
	e, found := bigPalace(b)
	for b.Loop() {
		clear(e.kept)
		if r := e.Report(context.Background(), found, Full); r.Error != nil {
			b.Fatal(r.Error)
		}
	}
}
