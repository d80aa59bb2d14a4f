package dbfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestTheHeaderSaysWhatSQLiteSays compares every field with the pragma that answers it.
func TestTheHeaderSaysWhatSQLiteSays(t *testing.T) {
	for _, pragmas := range [][]string{
		nil,
		{"PRAGMA page_size = 512"},
		{"PRAGMA page_size = 65536", "PRAGMA encoding = 'UTF-16le'"},
		{"PRAGMA encoding = 'UTF-16be'", "PRAGMA journal_mode = WAL"},
	} {
		path := filepath.Join(t.TempDir(), "chroma.sqlite3")
		build(t, path, 3000, pragmas...)
		w := plain(t, path)
		mustExec(t, w, "DELETE FROM drawer WHERE id > 100")
		w.Close()
		facts, err := Inspect(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		db := mustOpen(t, path, Options{})
		err = db.View(t.Context(), func(tx *Tx) error {
			for pragma, got := range map[string]any{
				"page_size": int64(facts.PageSize), "page_count": facts.Pages(), "freelist_count": int64(facts.FreePages), "encoding": facts.Encoding,
			} {
				var want any
				if err := tx.QueryRow(t.Context(), "PRAGMA "+pragma, nil, &want); err != nil {
					return err
				}
				if want != got {
					t.Errorf("%v: %s is %v, SQLite says %v", pragmas, pragma, got, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if facts.FreePages == 0 || facts.ChangeCounter == 0 || facts.ValidFor != facts.ChangeCounter || facts.SQLiteVersion < 3_000_000 {
			t.Errorf("%v: %+v", pragmas, facts.Header)
		}
		info, err := os.Stat(path)
		if err != nil || facts.Size != info.Size() || !facts.Modified.Equal(info.ModTime()) || facts.Allocated <= 0 {
			t.Errorf("size %d, allocated %d, %v", facts.Size, facts.Allocated, err)
		}
		if same := db.Facts(); same.Header != facts.Header || same.ID != facts.ID {
			t.Errorf("opened with %+v, looked at %+v", same, facts)
		}
	}
}

func TestAFileShorterThanItsHeaderSaysIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 3000)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-3*4096-10); err != nil {
		t.Fatal(err)
	}
	facts, err := Inspect(t.Context(), path)
	if err != nil || facts.MissingBytes() != 3*4096+10 {
		t.Errorf("%d bytes missing, %v", facts.MissingBytes(), err)
	}
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

// TestFramesAreCountedAsSQLiteRecoversThem lets SQLite say how many frames the same log holds.
func TestFramesAreCountedAsSQLiteRecoversThem(t *testing.T) {
	for name, spoil := range map[string]func(b []byte) []byte{
		"whole":                      func(b []byte) []byte { return b },
		"cut within the last frame":  func(b []byte) []byte { return b[:len(b)-100] },
		"a flipped bit in the third": func(b []byte) []byte { b[32+2*4120+24+1000] ^= 4; return b },
		"other salts in the second":  func(b []byte) []byte { b[32+4120+8] ^= 1; return b },
		"a flipped bit in the head":  func(b []byte) []byte { b[13] ^= 1; return b },
		"no commit in the last": func(b []byte) []byte {
			return b[:len(b)-4120] // the last transaction has several frames, its commit is gone
		},
		"head alone":  func(b []byte) []byte { return b[:32] },
		"half a head": func(b []byte) []byte { return b[:17] },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "chroma.sqlite3")
			build(t, path, 50, "PRAGMA journal_mode = WAL")
			w := plain(t, path)
			mustExec(t, w, "PRAGMA wal_autocheckpoint = 0",
				"INSERT INTO drawer(body) VALUES ('one')", "INSERT INTO drawer(body) VALUES ('two')",
				"UPDATE drawer SET body = hex(zeroblob(500))")
			// Copied while open, as a backup tool would: a log whose -shm is missing.
			copied := filepath.Join(t.TempDir(), "chroma.sqlite3")
			for _, suffix := range []string{"", "-wal"} {
				b, err := os.ReadFile(path + suffix)
				if err != nil {
					t.Fatal(err)
				}
				if suffix == "-wal" {
					b = spoil(b)
				}
				write(t, copied+suffix, b)
			}
			w.Close()
			facts, err := Inspect(t.Context(), copied)
			if err != nil {
				t.Fatal(err)
			}
			judge := plain(t, copied)
			defer judge.Close()
			var busy, frames, moved int
			mustExec(t, judge, "PRAGMA wal_autocheckpoint = 0", "SELECT count(*) FROM drawer")
			if err := judge.QueryRow("PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &moved); err != nil {
				t.Fatal(err)
			}
			if facts.WALFrames != frames {
				t.Errorf("counted %d frames, SQLite recovers %d", facts.WALFrames, frames)
			}
			if name == "whole" && frames < 5 {
				t.Errorf("only %d frames: the test tests nothing", frames)
			}
		})
	}
}

func TestACancelledLookSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	build(t, path, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Inspect(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := Open(ctx, path, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestLooksShareOneDescriptor: each look while a connection is open must leave its descriptor open; they must not pile up.
func TestLooksShareOneDescriptor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chroma.sqlite3")
	build(t, path, 10)
	db := mustOpen(t, path, Options{MaxConns: 1})
	count(t, db)
	before := len(descriptors(t, dir))
	for range 50 {
		if _, err := Inspect(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	if after := len(descriptors(t, dir)); after != before {
		t.Errorf("%d descriptors after 50 looks, %d before", after, before)
	}
	db.Close()
	if left := descriptors(t, dir); len(left) > 0 {
		t.Errorf("left open: %v", left)
	}
}
