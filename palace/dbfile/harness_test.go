package dbfile

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// TestMain is also the second process of the tests that need one: see roles_test.go.
func TestMain(m *testing.M) {
	if role := os.Getenv("DBFILE_ROLE"); role != "" {
		os.Exit(play(role, os.Getenv("DBFILE_PATH")))
	}
	goleak.VerifyTestMain(m)
}

// plain connects to path with no care at all, as a writer would.
func plain(t testing.TB, path string, params ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, params...))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

func mustExec(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// build makes a database with rows numbered 1 to rows, each with some text, and closes it.
func build(t testing.TB, path string, rows int, pragmas ...string) {
	t.Helper()
	db := plain(t, path)
	defer db.Close()
	mustExec(t, db, "PRAGMA synchronous = OFF")
	mustExec(t, db, pragmas...)
	mustExec(t, db,
		"CREATE TABLE drawer(id INTEGER PRIMARY KEY, body TEXT, filed_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)",
		fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) "+
			"INSERT INTO drawer(id, body) SELECT i, hex(zeroblob(200)) FROM n", rows))
}

// fileState is the outer state of one file in a directory: what looking must not change.
type fileState struct {
	Size     int64
	Modified int64
	Mode     fs.FileMode
	ID       FileID
	Sum      string
}

// stateOf stats everything in dir. Contents are compared only where no connection of ours is open: hashing closes a
// descriptor, which is the very thing that this package must not do then.
func stateOf(t testing.TB, dir string, contents bool) map[string]fileState {
	t.Helper()
	states := map[string]fileState{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		id, err := idOfPath(filepath.Join(dir, e.Name()), info)
		if err != nil {
			t.Fatal(err)
		}
		s := fileState{Size: info.Size(), Modified: info.ModTime().UnixNano(), Mode: info.Mode(), ID: id}
		if contents && info.Mode().IsRegular() {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil && !os.IsPermission(err) {
				t.Fatal(err)
			}
			s.Sum = fmt.Sprintf("%x", sha256.Sum256(b))
		}
		states[e.Name()] = s
	}
	return states
}

// untouched checks that the directory is as it was.
func untouched(t testing.TB, dir string, before map[string]fileState, contents bool) {
	t.Helper()
	if !contents {
		before = maps.Clone(before)
		for name, s := range before {
			s.Sum = ""
			before[name] = s
		}
	}
	if diff := cmp.Diff(before, stateOf(t, dir, contents)); diff != "" {
		t.Errorf("looking changed the directory (-before +after):\n%s", diff)
	}
}

// peer is another process with the database open.
type peer struct {
	t   testing.TB
	cmd *exec.Cmd
	in  *bufio.Writer
	out *bufio.Scanner
	end func() error
}

// start runs a role of roles_test.go on path and waits for its first answer.
func start(t testing.TB, role, path string) *peer {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "DBFILE_ROLE="+role, "DBFILE_PATH="+path)
	return startCommand(t, cmd)
}

func startCommand(t testing.TB, cmd *exec.Cmd) *peer {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, cmd: cmd, in: bufio.NewWriter(in), out: bufio.NewScanner(out)}
	ended := false
	p.end = func() error {
		if ended {
			return nil
		}
		ended = true
		in.Close()
		return cmd.Wait()
	}
	t.Cleanup(func() { p.end() })
	if got := p.read(); got != "ready" {
		t.Fatalf("peer said %q", got)
	}
	return p
}

func (p *peer) read() string {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("peer ended: %v %v", p.out.Err(), p.end())
	}
	return p.out.Text()
}

// ask sends one word and returns the answer.
func (p *peer) ask(word string) string {
	p.t.Helper()
	fmt.Fprintln(p.in, word)
	if err := p.in.Flush(); err != nil {
		p.t.Fatal(err)
	}
	return p.read()
}

// kill ends the peer as a crash does, and waits.
func (p *peer) kill() {
	p.cmd.Process.Kill()
	p.end()
}

// exclusive asks another process whether it could commit now. It answers ok or busy.
func exclusive(t testing.TB, path string) string {
	t.Helper()
	p := start(t, "exclusive", path)
	defer p.end()
	return p.ask("try")
}

func count(t testing.TB, db *DB) int {
	t.Helper()
	n := -1
	err := db.View(t.Context(), func(tx *Tx) error {
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM drawer WHERE body IS NOT NULL", nil, &n)
	})
	if err != nil {
		t.Errorf("counting: %v", err)
	}
	return n
}

func mustOpen(t testing.TB, path string, opts Options) *DB {
	t.Helper()
	db, err := Open(context.Background(), path, opts)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}

// descriptors lists what this process has open below dir.
func descriptors(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs /proc to count descriptors")
	}
	var open []string
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(target, dir+"/") {
			open = append(open, target)
		}
	}
	return open
}

func write(t testing.TB, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

// patch overwrites bytes in place. Only for files that nobody in this process has open.
func patch(t testing.TB, name string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}
