package dbfile

import (
	"bytes"
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValuesArriveAsTheyAreStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	w := plain(t, path)
	mustExec(t, w, "CREATE TABLE v(id INTEGER PRIMARY KEY, any)",
		"INSERT INTO v(any) VALUES (CAST(x'ff00fe41' AS TEXT)), (''), (x''), (x'00ff'), (NULL), (9007199254740993), (1e300), ('2024-01-01 00:00:00')")
	w.Close()
	db := mustOpen(t, path, Options{})
	var got []any
	err := db.View(t.Context(), func(tx *Tx) error {
		rows, err := tx.Query(t.Context(), "SELECT any FROM v ORDER BY id")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var v any
			if err := rows.Scan(&v); err != nil {
				return err
			}
			got = append(got, v)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []any{"\xff\x00\xfeA", "", []byte(nil), []byte{0, 0xff}, nil, int64(9007199254740993), 1e300, "2024-01-01 00:00:00"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestATimestampColumnIsNotSilentlyRewritten: the driver makes times of text in columns so declared.
func TestATimestampColumnIsNotSilentlyRewritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 1)
	w := plain(t, path)
	mustExec(t, w, "UPDATE drawer SET filed_at = '2024-01-01T00:00:00'")
	w.Close()
	db := mustOpen(t, path, Options{})
	ask := func(query string) (text string, err error) {
		err = db.View(t.Context(), func(tx *Tx) error {
			return tx.QueryRow(t.Context(), query, nil, &text)
		})
		return text, err
	}
	var e *ColumnError
	if got, err := ask("SELECT filed_at FROM drawer"); !errors.As(err, &e) || e.Column != "filed_at" || e.Declared != "TIMESTAMP" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := ask("SELECT +filed_at FROM drawer"); err != nil || got != "2024-01-01T00:00:00" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := ask("SELECT body FROM drawer WHERE id = 99"); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("got %v", err)
	}
	if _, err := ask(`SELECT "no such column" FROM drawer`); err == nil {
		t.Error("a misspelt column was taken for a string")
	}
}

func TestLookingCannotWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chroma.sqlite3")
	build(t, path, 10)
	before := stateOf(t, dir, true)
	db := mustOpen(t, path, Options{})
	for _, statement := range []string{
		"DELETE FROM drawer", "CREATE TABLE x(y)", "PRAGMA user_version = 7", "PRAGMA journal_mode = WAL",
	} {
		_ = db.View(t.Context(), func(tx *Tx) error {
			rows, err := tx.Query(t.Context(), statement)
			if err != nil {
				return err
			}
			return rows.Close()
		})
	}
	if got := count(t, db); got != 10 {
		t.Errorf("%d rows", got)
	}
	db.Close()
	untouched(t, dir, before, true)
}

func TestViewsRunSideBySideAndSeeOneStateEach(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 1000)
	db := mustOpen(t, path, Options{MaxConns: 3, CacheKiB: 64})
	var wg, all sync.WaitGroup
	all.Add(3)
	for range 3 {
		wg.Go(func() {
			err := db.View(t.Context(), func(tx *Tx) error {
				all.Done()
				all.Wait() // all three are inside at once, or this never ends
				var n int
				return tx.QueryRow(t.Context(), "SELECT count(*) FROM drawer", nil, &n)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestDamageIsToldWithItsCode: an index is destroyed, the table beside it is not.
func TestDamageIsToldWithItsCode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 1500)
	w := plain(t, path)
	mustExec(t, w, "CREATE INDEX bodies ON drawer(id, length(body))")
	var root int64
	if err := w.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'bodies'").Scan(&root); err != nil {
		t.Fatal(err)
	}
	w.Close()
	patch(t, path, (root-1)*4096, bytes.Repeat([]byte{0xee}, 72))
	db := mustOpen(t, path, Options{})
	n := 0
	err := db.View(t.Context(), func(tx *Tx) error {
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM drawer INDEXED BY bodies", nil, &n)
	})
	var e *SQLError
	if !errors.Is(err, ErrCorrupt) || !errors.As(err, &e) || e.Code&0xff != 11 || e.Path != path {
		t.Errorf("got %v", err)
	}
	err = db.View(t.Context(), func(tx *Tx) error {
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM drawer NOT INDEXED", nil, &n)
	})
	if err != nil || n != 1500 {
		t.Errorf("%d rows, %v", n, err)
	}
	if found, err := db.QuickCheck(t.Context(), 0); err != nil || len(found) == 0 {
		t.Errorf("quick check: %v %v", found, err)
	}
}
