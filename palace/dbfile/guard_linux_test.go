package dbfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestNoLogIsCreatedInTheInstantInWhichTheLastWriterCloses: SQLite opens a -wal with O_CREAT, read-only or not. A
// log without its index is ours: SQLite's writers create and delete both.
func TestNoLogIsCreatedInTheInstantInWhichTheLastWriterCloses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "exact.sqlite3")
	build(t, path, 10, "PRAGMA journal_mode = WAL")
	p := start(t, "cycler", path)
	views := 0
	for cycle := range 60 {
		fmt.Fprintln(p.in, "go")
		if err := p.in.Flush(); err != nil {
			t.Fatal(err)
		}
		answer := make(chan string)
		go func() {
			p.out.Scan()
			answer <- p.out.Text()
		}()
		for done := false; !done; {
			select {
			case got := <-answer:
				if got != "done" {
					t.Fatal(got)
				}
				done = true
			default:
				db, err := Open(t.Context(), path, Options{CopyDir: os.TempDir()})
				if err == nil {
					err = viewOnce(t, db)
					if cerr := db.Close(); cerr != nil {
						t.Error(cerr)
					}
				}
				var stale *StaleError
				if err == nil {
					views++
				} else if !errors.As(err, &stale) && !errors.Is(err, ErrBusy) {
					t.Fatal(err)
				}
			}
		}
		_, werr := os.Lstat(path + "-wal")
		_, serr := os.Lstat(path + "-shm")
		if (werr == nil) != (serr == nil) {
			t.Fatalf("cycle %d: -wal: %v, -shm: %v", cycle, werr, serr)
		}
	}
	if views == 0 {
		t.Error("no view ever succeeded: the test tests nothing")
	}
}

func viewOnce(t *testing.T, db *DB) error {
	return db.View(t.Context(), func(tx *Tx) error {
		var n int
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM drawer", nil, &n)
	})
}
