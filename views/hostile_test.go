package views

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"castellan/palace/specimen"
	"castellan/theme"
	"castellan/ui/uitest"
)

// setMetadata gives every drawer of a palace the same text under a key.
func setMetadata(t *testing.T, dir, key, value string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, specimen.Database))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(context.Background(), "UPDATE embedding_metadata SET string_value = ? WHERE key = ?", value, key); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// hostileSite is a palace all of whose texts try to break a terminal: its path,
// wings, rooms, sources, documents, ids and collection names.
func hostileSite(t *testing.T) *site {
	t.Helper()
	site := newSite(t, "healthy")
	dir := site.path("healthy")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, specimen.Database))
	if err != nil {
		t.Fatal(err)
	}
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(context.Background(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range uitest.Hostile() {
		for _, key := range []string{"wing", "room", "source_file", "filed_at", "added_by", "chroma:document"} {
			run("UPDATE embedding_metadata SET string_value = ? WHERE key = ? AND id % ? = ?", s, key, len(uitest.Hostile()), i)
		}
		run("UPDATE embeddings SET embedding_id = embedding_id || ? WHERE id % ? = ?", s, len(uitest.Hostile()), i)
		run("INSERT INTO embedding_metadata(id, key, string_value) SELECT id, ?, ? FROM embeddings WHERE id % ? = ?", "key "+s, s, len(uitest.Hostile()), i)
	}
	run("UPDATE collections SET name = ? WHERE name = ?", "mem\x1b]52;c;ZXZpbA==\x07palace\r\n\t_\u202edrawers", "mempalace_closets")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// The path itself, as far as a file system takes it.
	bad := filepath.Join(site.home, "palaces", "ev\x1b[2Jil\r\npal\x07ace \u202egnol")
	if err := os.Rename(dir, bad); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("{%q: %q}", "palace_path", "x")
	config = strings.Replace(config, `"x"`, jsonString(t, bad), 1)
	if err := os.WriteFile(filepath.Join(site.home, ".mempalace", "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return openSite(t, site.home)
}

func TestNoFrameHoldsAControlByteFromStoredText(t *testing.T) {
	t.Parallel()
	site := hostileSite(t)
	ways := map[string]string{"copy": "d y", "wide": "d w", "read": "d enter", "zoomed": "d z", "oldest": "d S", "closets": "enter j d",
		"copy of the palace": "y", "copy in the overview": "enter tab y", "full check": "f d", "palette": "enter :", "help": "d ?"}
	for name, keys := range screens {
		ways[name] = keys
	}
	for _, at := range []struct {
		th   theme.Theme
		w, h int
	}{{uitest.Color(), 80, 24}, {uitest.ASCII(), 120, 40}, {uitest.Plain(), 40, 12}} {
		for name, keys := range ways {
			d := newDriver(t, site, at.th, at.w, at.h)
			d.keys(keys)
			for range len(uitest.Hostile()) { // past every text there is
				uitest.Check(t, d.frame(), at.w, at.h)
				d.keys("j")
			}
			d.keys("/")
			d.send(uitest.Paste("\x1b]52;c;ZXZpbA==\x07\x1b[2J"))
			d.settle()
			uitest.Check(t, d.frame(), at.w, at.h)
			if t.Failed() {
				t.Fatalf("%s at %dx%d", name, at.w, at.h)
			}
		}
	}
}

func TestThePlainFormHoldsNoControlByteFromStoredText(t *testing.T) {
	t.Parallel()
	site := hostileSite(t)
	out := plainSession(t, site, "1", "1", "1", "1", "2", "n", "3", "/a", "1", "b", "2", "b", "b", "3", "1", "b", "b", "p")
	for i, line := range strings.Split(out, "\n") {
		if j := bytes.IndexFunc([]byte(line), func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e }); j >= 0 {
			t.Fatalf("line %d holds a control character: %q", i+1, line)
		}
	}
}
