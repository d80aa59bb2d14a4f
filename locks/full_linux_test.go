package locks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// startFull plays a part in a mount namespace of its own.
func startFull(t *testing.T, p peer) *actor {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: self, Args: []string{"castellan"}, SysProcAttr: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}}
	return startActor(t, cmd, part{Peer: &p})
}

// lockOnFullDisk covers the lock directory with a full file system, which only
// this process sees, and tells what taking brings there.
func lockOnFullDisk(p peer) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		fmt.Println("skip: no mounts here:", err)
		return nil
	}
	dir := Directory(p.Home)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		fmt.Println("skip: no tmpfs here:", err)
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 128<<10), 0o600); err == nil {
		return fmt.Errorf("%s does not fill", dir)
	}
	l, err := Take(context.Background(), Target{Path: p.Palace}, TakeOptions{Home: p.Home})
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(File(dir, Key(p.Palace)))
	fmt.Printf("locked with %q\n", raw)
	return errors.Join(err, l.Release())
}
