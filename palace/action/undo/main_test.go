package undo

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// killVariable makes this test binary a second program that is killed before
// one of its steps: "<state directory>|<step>".
const killVariable = "UNDO_TEST_KILL"

func TestMain(m *testing.M) {
	if raw := os.Getenv(killVariable); raw != "" {
		state, step, _ := strings.Cut(raw, "|")
		n, err := strconv.Atoi(step)
		if err == nil {
			err = victim(state, n)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const testKey = "c77e7cd1a6f4b2f3"

// victim keeps two entries, the second of which makes the first go, notes what
// became of it and marks it undone.
func victim(state string, killAt int) error {
	s, err := Open(state, testKey, Options{MaxEntries: 1})
	if err != nil {
		return err
	}
	step := 0
	s.at = func(string) {
		if step++; step == killAt {
			die()
		}
	}
	for i := range 2 {
		id, err := s.NewID()
		if err != nil {
			return err
		}
		if err := keep(s, id, fmt.Sprint("content ", i)); err != nil {
			return err
		}
		if err := s.Settle(id, i); err != nil {
			return err
		}
		if err := s.MarkUndone(id); err != nil {
			return err
		}
	}
	return nil
}

// die ends the process as kill -9 does: nothing deferred runs.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	time.Sleep(time.Minute) // until the signal arrives
}

func killed(t *testing.T, state string, step int) bool {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d", killVariable, state, step))
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the other process: %v\n%s", err, out)
	}
	return err != nil
}

func keep(s *Store, id, content string) error {
	d, err := s.Begin(id, Delete, "/palaces/work", "Delete something")
	if err != nil {
		return err
	}
	w, err := d.Create("rows.jsonl")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_, err = d.Commit("1 row")
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func store(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "castellan"), testKey, o)
	must(t, err)
	return s
}

// kept makes an entry with this content and gives its id.
func kept(t *testing.T, s *Store, content string) string {
	t.Helper()
	id, err := s.NewID()
	must(t, err)
	must(t, keep(s, id, content))
	return id
}

func content(t *testing.T, s *Store, e Entry) string {
	t.Helper()
	f, err := s.Open(e, "rows.jsonl")
	must(t, err)
	defer f.Close()
	b, err := io.ReadAll(f)
	must(t, err)
	return string(b)
}
