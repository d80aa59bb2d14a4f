//go:build unix

package action

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const nobody = 65534

// again runs the rest of the calling test once more in a process of its own,
// with no umask and as that user, and reports whether this is that process.
func again(t *testing.T, uid uint32, dir string) (string, bool) {
	t.Helper()
	if dir := os.Getenv("CASTELLAN_TEST_AGAIN"); dir != "" {
		unix.Umask(0)
		return dir, true
	}
	exe, err := os.Executable()
	must(t, err)
	// The build's own directory is closed to others. A copy in its stead would
	// be busy while any other test forks.
	bin := filepath.Join(dir, "test.bin")
	must(t, os.Link(exe, bin))
	must(t, os.Chmod(bin, 0o755)) // the build goes by the umask
	cmd := exec.Command(bin, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CASTELLAN_TEST_AGAIN="+dir)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as uid %d: %v\n%s", uid, err, out)
	}
	return dir, false
}

// openDir is a directory that everybody may enter.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "castellan-action-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	return dir
}

func quick(context.Context, Reporter) (Result, error) { return Result{}, nil }

func TestLogsAreForTheirOwnerAloneWhateverTheUmask(t *testing.T) {
	dir := ""
	if os.Getenv("CASTELLAN_TEST_AGAIN") == "" {
		dir = openDir(t)
		must(t, os.Chmod(dir, 0o777))
		// Made by something that knew no better.
		must(t, os.MkdirAll(filepath.Join(dir, "old", "runs"), 0o755))
		must(t, os.Chmod(filepath.Join(dir, "old", "runs"), 0o777))
		must(t, os.Chown(filepath.Join(dir, "old", "runs"), nobodyOr(os.Getuid()), -1))
	}
	dir, here := again(t, nobody, dir)
	if !here {
		return
	}
	for _, state := range []string{"new/deep", "old"} {
		r := NewRunner(Options{StateDir: filepath.Join(dir, state)})
		run, err := r.Start(t.Context(), funcAction{run: quick}, planned)
		must(t, err)
		must(t, r.waitFor(t, run))
		if err := run.Snapshot().Unlogged; err != nil {
			t.Error(err)
		}
		runs := filepath.Join(dir, state, "runs")
		for path, want := range map[string]fs.FileMode{runs: 0o700, logPath(runs, run.ID()): 0o600} {
			info, err := os.Stat(path)
			must(t, err)
			if info.Mode().Perm() != want {
				t.Errorf("%s has mode %o", path, info.Mode().Perm())
			}
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "new")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

func nobodyOr(uid int) int {
	if uid == 0 {
		return nobody
	}
	return uid
}

func TestARunGoesOnWhereItsLogCannotBeKept(t *testing.T) {
	dir := ""
	if os.Getenv("CASTELLAN_TEST_AGAIN") == "" {
		dir = openDir(t)
		state := filepath.Join(dir, "state")
		must(t, os.Mkdir(state, 0o555))
		for _, name := range []string{"closed", "unlisted"} {
			must(t, os.MkdirAll(filepath.Join(dir, name, "runs"), 0o755))
			must(t, os.Chown(filepath.Join(dir, name, "runs"), nobodyOr(os.Getuid()), -1))
		}
		must(t, os.Chmod(filepath.Join(dir, "closed", "runs"), 0o500))
		// What is there may be another user's.
		other := logPath(filepath.Join(dir, "unlisted", "runs"), "20200101-000000.000-00000000")
		must(t, os.WriteFile(other, nil, 0o000))
	}
	dir, here := again(t, nobody, dir)
	if !here {
		return
	}
	for _, state := range []string{"state", "closed"} {
		r := NewRunner(Options{StateDir: filepath.Join(dir, state)})
		begun, warned := make(chan struct{}), make(chan struct{})
		run, err := r.Start(t.Context(), funcAction{run: func(context.Context, Reporter) (Result, error) {
			close(begun)
			<-warned
			return Result{}, nil
		}}, planned)
		must(t, err)
		<-begun
		for sub := run.Subscribe(); ; {
			batch, err := sub.Next(t.Context())
			must(t, err)
			if logs := details[Log](batch); len(logs) == 1 && logs[0].Level == LevelWarn {
				break
			}
		}
		close(warned)
		must(t, r.waitFor(t, run))
		if s := run.Snapshot(); s.State != StateDone || !errors.Is(s.Unlogged, fs.ErrPermission) {
			t.Errorf("%s: %+v", state, s)
		}
	}
	list, err := NewRunner(Options{StateDir: filepath.Join(dir, "unlisted")}).History(t.Context())
	if len(list) != 0 || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a log that may not be read: %v, %v", list, err)
	}
}

func TestAPipeInPlaceOfALogIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := newID(noon)
	must(t, os.Mkdir(filepath.Join(dir, "runs"), 0o700))
	must(t, unix.Mkfifo(logPath(filepath.Join(dir, "runs"), id), 0o600))
	r := NewRunner(Options{StateDir: dir})
	if list, err := r.History(t.Context()); len(list) != 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := r.Transcript(t.Context(), id); err == nil {
		t.Error("a pipe was read")
	}
}
