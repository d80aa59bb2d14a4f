//go:build unix

package queue

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	nobody      = 65534
	dirVariable = "QUEUE_TEST_DIR"
)

// root may read and write everything, so the test plays again as nobody.
func TestAnothersQueueIsRefusedByName(t *testing.T) {
	if dir := os.Getenv(dirVariable); dir != "" {
		asStranger(t, dir)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir, err := os.MkdirTemp("", "queue")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o755))
	q, err := Open(filepath.Join(dir, "private"), testKey, Options{})
	must(t, err)
	park(t, q, entry("a", 0))
	// /proc/self/exe: the test binary lies where nobody else may enter.
	if err := os.Chmod("/proc/self/exe", 0o755); err != nil { // the build goes by the umask
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), dirVariable+"="+dir, "TMPDIR="+dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("as uid %d: %v\n%s", nobody, err, out)
	}
	if n := len(listed(t, q)); n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}

func asStranger(t *testing.T, dir string) {
	for _, place := range []string{"private", "none"} { // another's queue; no right to make one
		q, err := Open(filepath.Join(dir, place), testKey, Options{})
		must(t, err)
		var store *StoreError
		_, err = q.Park(t.Context(), entry("b", 0))
		if !errors.As(err, &store) || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "sudo") {
			t.Errorf("%s: park: %v", place, err)
		}
		if place == "none" {
			continue
		}
		if _, err = q.List(); !errors.As(err, &store) {
			t.Errorf("list: %v", err)
		}
		if d, err := q.Drain(t.Context(), &applier{}); !errors.As(err, &store) {
			t.Errorf("drain: %+v, %v", d, err)
		}
	}
}
