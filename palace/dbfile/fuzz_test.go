package dbfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// FuzzOpen looks at files of any content, with sidecars of any content: no panic, no hang, no memory beyond a fixed
// base and the size of the files, and not a byte changed.
func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	build(f, filepath.Join(dir, "plain"), 20, "PRAGMA page_size = 512")
	plainDB := read("plain")
	build(f, filepath.Join(dir, "wal"), 20, "PRAGMA page_size = 512", "PRAGMA journal_mode = WAL")
	w := plain(f, filepath.Join(dir, "wal"))
	mustExec(f, w, "PRAGMA wal_autocheckpoint = 0", "INSERT INTO drawer(body) VALUES ('one')", "UPDATE drawer SET body = 'two'")
	walDB, wal, shm := read("wal"), read("wal-wal"), read("wal-shm")
	w.Close()
	hot := append(append([]byte(nil), journalMagic...), make([]byte, 2000)...)
	hot[11], hot[19], hot[22], hot[26] = 2, 9, 2, 2 // two records, nine pages before, sector and page of 512

	none := []byte(nil)
	f.Add(plainDB, none, none, none)
	f.Add(plainDB, hot, none, none)
	f.Add(plainDB[:100], hot, none, none)
	f.Add(walDB, none, none, none)
	f.Add(walDB, none, wal, none)
	f.Add(walDB, none, wal, shm[:200])
	f.Add(plainDB, hot, wal, none)
	f.Add(none, hot, wal, none)
	f.Add([]byte("not a database"), none, none, none)

	f.Fuzz(func(t *testing.T, main, journal, wal, shm []byte) {
		dir, scratch := t.TempDir(), t.TempDir()
		path := filepath.Join(dir, "chroma.sqlite3")
		total := len(main) + len(journal) + len(wal) + len(shm)
		write(t, path, main)
		for suffix, b := range map[string][]byte{"-journal": journal, "-wal": wal, "-shm": shm} {
			if b != nil {
				write(t, path+suffix, b)
			}
		}
		before := stateOf(t, dir, true)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()

		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		_, _ = Inspect(ctx, path)
		runtime.ReadMemStats(&is)
		if grew := is.TotalAlloc - was.TotalAlloc; grew > uint64(1<<20+4*total) {
			t.Errorf("a look at %d bytes allocated %d", total, grew)
		}
		db, err := Open(ctx, path, Options{CopyDir: scratch, CopyLimit: 4 << 20})
		if err == nil {
			err = readAll(ctx, db)
			if cerr := db.Close(); cerr != nil {
				t.Error(cerr)
			}
		}
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("it does not come to an end")
		}
		untouched(t, dir, before, true)
		if left := stateOf(t, scratch, false); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// readAll asks what a reader of a palace would ask, and takes any answer.
func readAll(ctx context.Context, db *DB) error {
	return db.View(ctx, func(tx *Tx) error {
		for _, query := range []string{"SELECT name, sql FROM sqlite_schema", "SELECT id, body, +filed_at FROM drawer", "PRAGMA quick_check"} {
			rows, err := tx.Query(ctx, query)
			if err != nil {
				return err
			}
			for rows.Next() {
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				return err
			}
		}
		return nil
	})
}
