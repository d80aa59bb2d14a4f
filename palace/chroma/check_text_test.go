package chroma

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"castellan/palace/chroma/fts5"
	"castellan/palace/dbfile"
)

// textPalace is a database with documents and their full-text index alone.
func textPalace(t testing.TB) (*sql.DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	for _, s := range []string{
		"CREATE TABLE embedding_metadata(id INTEGER, key TEXT NOT NULL, string_value TEXT, PRIMARY KEY(id, key))",
		"CREATE VIRTUAL TABLE embedding_fulltext_search USING fts5(string_value, tokenize='trigram')",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return db, path
}

// compareAt is the quick comparison, and what it counted.
func compareAt(t testing.TB, path string) (TextFacts, error) {
	t.Helper()
	db, err := dbfile.Open(context.Background(), path, dbfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	f := TextFacts{Present: true, Shadows: true}
	w := &checkWork{db: db}
	return f, w.compareQuickly(context.Background(), &f)
}

func file(t testing.TB, tx *sql.Tx, id int, text string) {
	t.Helper()
	for _, s := range []string{"DELETE FROM embedding_metadata WHERE id = ?", "DELETE FROM embedding_fulltext_search WHERE rowid = ?"} {
		if _, err := tx.Exec(s, id); err != nil {
			t.Fatal(err)
		}
	}
	if text == "-" {
		return
	}
	if _, err := tx.Exec("INSERT INTO embedding_metadata VALUES(?, 'chroma:document', ?)", id, text); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO embedding_fulltext_search(rowid, string_value) VALUES(?, ?)", id, text); err != nil {
		t.Fatal(err)
	}
}

// somewords makes a text that is mostly words, with letters that fold in odd
// ways, and now and then too short for a trigram.
func somewords(rng *rand.Rand) string {
	words := []string{"palace", "DRAWER", "Straße", "ſtop", "Kelvin", "İstanbul", "ΣΊΣΥΦΟΣ", "日本語", "🏰castle", "the", "a", "\uFFFE", "x\ty"}
	var b strings.Builder
	for range rng.IntN(60) {
		b.WriteString(words[rng.IntN(len(words))])
		b.WriteByte(" \n,"[rng.IntN(3)])
	}
	return b.String()
}

func sqliteSays(t testing.TB, db *sql.DB) error {
	t.Helper()
	_, err := db.Exec("INSERT INTO embedding_fulltext_search(embedding_fulltext_search) VALUES('integrity-check')")
	return err
}

func TestASoundTextIndexIsProvedWithoutSQLite(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	db, path := textPalace(t)
	if f, err := compareAt(t, path); err != nil || *f.Rows != 0 {
		t.Fatalf("an empty index: %+v, %v", f, err)
	}
	doubts := 0
	for round := range 25 {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range rng.Perm(200)[:1+rng.IntN(40)] {
			text := somewords(rng)
			if rng.IntN(6) == 0 {
				text = "-"
			}
			file(t, tx, 1+id, text)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := sqliteSays(t, db); err != nil {
			t.Fatal(err)
		}
		f, err := compareAt(t, path)
		var doubt *fts5.DoubtError
		switch {
		case errors.As(err, &doubt):
			t.Log(round, err) // allowed, and SQLite is asked then; it must be the exception
			doubts++
		case err != nil:
			t.Fatal(err)
		case *f.Differing != 0 || *f.Dead != 0 || *f.NotIndexed != 0 || *f.Rows != *f.Documents:
			t.Fatalf("%+v", f)
		}
	}
	if doubts > 3 {
		t.Errorf("doubts in %d of 25 rounds", doubts)
	}
	if _, err := db.Exec("INSERT INTO embedding_fulltext_search(embedding_fulltext_search) VALUES('optimize')"); err != nil {
		t.Fatal(err)
	}
	if _, err := compareAt(t, path); err != nil {
		t.Errorf("an optimised index: %v", err)
	}
}

// A long text list spans many pages, and pages end within positions, within
// entries and between a term and its entries.
func TestALargeTextIndexIsProved(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	db, path := textPalace(t)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for id := range 3000 {
		text := somewords(rng)
		if id%500 == 0 {
			text = strings.Repeat("aaa bbb ", 4000)
		}
		file(t, tx, id+1, text)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := compareAt(t, path); err != nil {
		t.Error(err)
	}
}

func TestEveryLetterFoldsAsSQLiteFoldsIt(t *testing.T) {
	t.Parallel()
	db, path := textPalace(t)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	id, n := 1, 0
	for c := rune(1); c <= unicode.MaxRune; c++ {
		if !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsNumber(c) && c > 0x3000 {
			continue
		}
		if c > 0x3400 && c < 0xA000 || c > 0xAC00 && c < 0xF900 || c > 0x20000 {
			continue // ideographs and syllables have no case
		}
		b.WriteRune(c)
		b.WriteString("-")
		if n++; n%2000 == 0 {
			file(t, tx, id, b.String())
			id++
			b.Reset()
		}
	}
	file(t, tx, id, b.String())
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n < 10000 {
		t.Fatal(n)
	}
	if _, err := compareAt(t, path); err != nil {
		t.Error(err)
	}
}

// Whatever SQLite would call damaged raises a doubt.
func TestADamagedTextIndexIsNeverProvedSound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	db, path := textPalace(t)
	for round := range 6 {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		for k := range 40 {
			file(t, tx, 1+round*30+k, somewords(rng))
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := compareAt(t, path); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	rows, err := db.Query("SELECT id FROM embedding_fulltext_search_data")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	rows.Close()
	damaged := 0
	for range 120 {
		id := ids[rng.IntN(len(ids))]
		var was []byte
		if err := db.QueryRow("SELECT block FROM embedding_fulltext_search_data WHERE id = ?", id).Scan(&was); err != nil {
			t.Fatal(err)
		}
		bad := append([]byte(nil), was...)
		if len(bad) == 0 {
			continue
		}
		bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
		put := func(b []byte) {
			if _, err := db.Exec("UPDATE embedding_fulltext_search_data SET block = ? WHERE id = ?", b, id); err != nil {
				t.Fatal(err)
			}
		}
		put(bad)
		_, err := compareAt(t, path)
		// A connection of its own: FTS5 keeps the list of segments in memory.
		fresh, ferr := sql.Open("sqlite", path)
		if ferr != nil {
			t.Fatal(ferr)
		}
		says := sqliteSays(t, fresh)
		fresh.Close()
		if says != nil {
			damaged++
			if err == nil && id>>36&1 == 0 {
				t.Fatalf("block %d passes for sound, and SQLite says %v", id, says)
			}
		}
		put(was)
	}
	if damaged < 50 {
		t.Errorf("SQLite called only %d of 120 damages any", damaged)
	}
	for _, s := range []string{
		"DELETE FROM embedding_fulltext_search_docsize WHERE id = 20",
		"UPDATE embedding_fulltext_search_idx SET pgno = pgno + 2 WHERE rowid IN (SELECT rowid FROM embedding_fulltext_search_idx LIMIT 1)",
		"UPDATE embedding_fulltext_search_content SET c0 = c0 || 'more' WHERE id = 21",
		"DELETE FROM embedding_fulltext_search_content WHERE id = 22",
		"UPDATE embedding_fulltext_search_config SET v = 5 WHERE k = 'version'",
	} {
		if strings.Contains(s, "_idx") {
			s = "UPDATE embedding_fulltext_search_idx SET pgno = pgno + 2 WHERE term = (SELECT max(term) FROM embedding_fulltext_search_idx)"
		}
		db, path := textPalace(t)
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		for id := range 60 {
			file(t, tx, id+1, somewords(rng)+fmt.Sprint(" drawer ", id))
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
		if _, err := compareAt(t, path); err == nil {
			t.Errorf("after %q it passes for sound", s)
		}
	}
}
