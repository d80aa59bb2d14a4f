//go:build unix

package chroma

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/specimen"
)

const nobody = 65534

// TestAPalaceOfAnotherUserIsNotWrittenTo runs itself once more without root's
// rights, to whom everything is permitted.
func TestAPalaceOfAnotherUserIsNotWrittenTo(t *testing.T) {
	shared := os.Getenv("CHROMA_TEST_SHARED")
	if shared == "" {
		var err error
		shared, err = os.MkdirTemp("", "chroma")
		must(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(shared) })
		must(t, os.Chmod(shared, 0o755))
		must(t, specimen.CopyFS(os.DirFS(samples), "fresh", filepath.Join(shared, "palace")))
		// Where this is not root, what is to be removed has to be writable again.
		t.Cleanup(func() { chmodTree(t, filepath.Join(shared, "palace"), 0o755, 0o644) })
		chmodTree(t, filepath.Join(shared, "palace"), 0o555, 0o444)
		if os.Getuid() == 0 {
			// /proc/self/exe: the test binary lies in a directory that nobody else may enter.
			if err := os.Chmod("/proc/self/exe", 0o755); err != nil { // the build goes by the umask
				t.Fatal(err)
			}
			cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$")
			cmd.Env, cmd.Dir = append(os.Environ(), "CHROMA_TEST_SHARED="+shared), "/"
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("as uid %d: %v\n%s", nobody, err, out)
			}
			return
		}
	}
	dir := filepath.Join(shared, "palace")
	before, err := specimen.HashTree(dir)
	must(t, err)
	w := open(t, dir).Writable(answering(true))
	c, err := w.Writer(t.Context(), "mempalace_drawers")
	must(t, err)
	errs := writeEverything(t.Context(), c)
	_, errs["make"] = w.CreateCollection(t.Context(), backend.NewCollection{Name: "another"})
	errs["drop"] = w.DeleteCollection(t.Context(), "mempalace_drawers")
	errs["create"] = Create(t.Context(), filepath.Join(shared, "new"))
	for call, err := range errs {
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Reason != RefusedUnwritable {
			t.Errorf("%s: %v", call, err)
		}
	}
	after, err := specimen.HashTree(dir)
	must(t, err)
	if d := specimen.Diff(before, after); len(d) != 0 {
		t.Error(d)
	}
}

// chmodTree changes directories before what is in them.
func chmodTree(t *testing.T, root string, dirs, files fs.FileMode) {
	t.Helper()
	must(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		mode := files
		if e.IsDir() {
			mode = dirs
		}
		return errors.Join(err, os.Chmod(path, mode))
	}))
}
