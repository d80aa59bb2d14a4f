package exact

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"castellan/palace/backend"
)

// child is the other process. "writer" files batch after batch, one call each,
// and says which it begins, until it is killed.
func child(role, dir string) {
	if role != "writer" {
		panic(role)
	}
	ctx := context.Background()
	p, err := Open(ctx, dir, Options{})
	if err != nil {
		panic(err)
	}
	w, err := p.Writable(Writing{}).Writer(ctx, "mempalace_drawers")
	if err != nil {
		panic(err)
	}
	for batch := 0; ; batch++ {
		fmt.Println(batch)
		if err := w.Upsert(ctx, crashBatch(batch)); err != nil {
			panic(err)
		}
	}
}

const crashBatchSize = 50

func crashBatch(batch int) []backend.Record {
	list := make([]backend.Record, crashBatchSize)
	for i := range list {
		list[i] = record(fmt.Sprintf("crash_%04d_%02d", batch, i), fmt.Sprintf("text of batch %d", batch), float32(batch), float32(i))
	}
	return list
}

func TestAKilledWriterLeavesAllOfACallOrNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("kills processes")
	}
	exe, err := os.Executable()
	must(t, err)
	dir := filepath.Join(t.TempDir(), "palace")
	w := create(t, dir)
	must(t, w.Add(t.Context(), []backend.Record{record("before", "before", 1, 2)}))
	must(t, w.to.Close())
	for round := range 4 {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), "CASTELLAN_EXACT_CHILD=writer", "CASTELLAN_EXACT_DIR="+dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		cmd.Stderr = os.Stderr
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		begun := 2 + 5*round
		for range begun + 1 {
			if !lines.Scan() {
				t.Fatal("the child ended by itself")
			}
		}
		// Not a bound on anything: only another moment within a call for each round.
		time.Sleep(time.Duration(round) * 700 * time.Microsecond)
		must(t, cmd.Process.Kill())
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()

		// What a reader sees before anybody recovers the log, and what is there afterwards, is whole calls.
		for _, write := range []bool{false, true} {
			p, err := Open(t.Context(), dir, Options{})
			must(t, err)
			if write {
				again, err := p.Writable(Writing{}).Writer(t.Context(), "mempalace_drawers")
				must(t, err)
				must(t, again.Upsert(t.Context(), []backend.Record{record("after", fmt.Sprint("after ", round), 1, 2)}))
			}
			c := drawers(t, p)
			count := map[string]int{}
			for _, r := range collect(t, c, backend.Query{}) {
				if strings.HasPrefix(r.ID, "crash_") {
					count[r.ID[:len("crash_0000")]]++
				}
			}
			// The child has begun a call, so those before it were answered.
			for batch := range begun {
				if key := fmt.Sprintf("crash_%04d", batch); count[key] == 0 {
					t.Errorf("round %d: %s is lost, although its call had returned", round, key)
				}
			}
			for key, n := range count {
				if n != crashBatchSize {
					t.Errorf("round %d: %d records of %s", round, n, key)
				}
			}
			must(t, p.Close())
		}
		sound(t, dir)
	}
}

// sound asks SQLite whether the file is in order, and whether every document has
// exactly one text in the full-text index.
func sound(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, DatabaseFile))
	must(t, err)
	defer db.Close()
	var verdict string
	must(t, db.QueryRow("PRAGMA integrity_check").Scan(&verdict))
	if verdict != "ok" {
		t.Errorf("integrity_check: %s", verdict)
	}
	if _, err := db.Exec("INSERT INTO docs_fts(docs_fts) VALUES ('integrity-check')"); err != nil {
		t.Errorf("the full-text index: %v", err)
	}
	const documents, texts = "SELECT collection_id, id, document FROM documents", "SELECT collection_id, doc_id, document FROM docs_fts"
	for what, question := range map[string]string{
		"documents without a text":       "SELECT count(*) FROM (" + documents + " EXCEPT " + texts + ")",
		"texts without a document":       "SELECT count(*) FROM (" + texts + " EXCEPT " + documents + ")",
		"texts that are there twice":     "SELECT (SELECT count(*) FROM docs_fts) - (SELECT count(*) FROM documents)",
		"documents without a collection": "SELECT count(*) FROM documents WHERE collection_id NOT IN (SELECT id FROM collections)",
	} {
		var n int
		must(t, db.QueryRow(question).Scan(&n))
		if n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
}
