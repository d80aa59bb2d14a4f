package locks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	lsofPath  = "/usr/sbin/lsof" // part of macOS; never looked up in PATH
	lsofTime  = 5 * time.Second
	lsofBytes = 64 << 20
)

// scan asks lsof for all open files. macOS shows the locks themselves to
// nobody, but MemPalace opens a lock file only to lock it and closes it with
// the lock: whoever has one open for writing holds it or is about to. Where
// nobody is seen, nothing is known: other users' processes do not show.
func (o *Observer) scan(ctx context.Context, q query) (*sight, error) {
	s := newSight()
	s.blind = "macOS does not show locks, and not which files other users' processes have open"
	files, err := openFiles(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil {
		s.gaps = append(s.gaps, err)
		s.allHidden = true
		return s, nil
	}
	locks := map[fileID]string{}
	for _, names := range [][]string{q.names, q.sources} {
		for _, name := range names {
			if info, err := os.Stat(filepath.Join(q.dir, name)); err == nil {
				if id, ok := identify(info); ok {
					locks[id] = name
				}
			}
		}
	}
	for _, f := range files {
		if f.kind != "REG" {
			continue
		}
		if name, ok := locks[f.id]; ok && f.access != "r" {
			l := lockNamed(s.locks, name)
			l.havers = append(l.havers, f.pid)
		}
		if f.pid != os.Getpid() {
			s.palaceFile(f, q.palaces)
		}
	}
	s.others(len(q.palaces))
	return s, nil
}

// others counts the processes of other users, whose open files lsof shows to
// root alone. Their arguments are not to be had either, and macOS shows access
// control lists only to C: so each whose name is that of an interpreter, of
// Chroma or of MemPalace could have any palace open.
func (s *sight) others(palaces int) {
	if os.Geteuid() == 0 {
		return
	}
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		s.gaps = append(s.gaps, fmt.Errorf("listing processes: %w", err))
		return
	}
	s.reach = make([][]int, palaces)
	for i := range all {
		k := &all[i]
		if k.Eproc.Ucred.Uid == uint32(os.Geteuid()) || processState(k.Proc.P_stat) == "Z" {
			continue
		}
		pid := int(k.Proc.P_pid)
		s.hidden[pid] = true
		if !namesKeeper(programOf(k)) {
			continue
		}
		for i := range s.reach {
			s.reach[i] = append(s.reach[i], pid)
		}
	}
}

func (s *sight) palaceFile(f lsofFile, palaces []*palaceFiles) {
	for i, p := range palaces {
		open := OpenFile{Path: f.path, Writable: f.access != "r"}
		inside, beside := p.below(f.path)
		rel, indexed := p.byID[f.id]
		switch {
		case indexed:
			open.Path = filepath.Join(p.path, rel)
		case beside:
			open.Moved = true
		case inside && !strings.HasSuffix(f.path, "-journal"):
			info, err := os.Stat(f.path)
			if err == nil {
				if id, ok := identify(info); ok && id == f.id {
					break // made since the palace was listed
				}
			}
			open.Deleted = true
		default:
			continue
		}
		s.files = append(s.files, openFile{pid: f.pid, palace: i, OpenFile: open})
	}
}

// openFiles runs lsof with arguments that never change, for a bounded time.
func openFiles(ctx context.Context) ([]lsofFile, error) {
	ctx, cancel := context.WithTimeout(ctx, lsofTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, lsofPath, "-w", "-n", "-P", lsofFields)
	cmd.Env = []string{"LC_ALL=C"}
	cmd.WaitDelay = time.Second
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", lsofPath, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", lsofPath, err)
	}
	out, readErr := io.ReadAll(io.LimitReader(pipe, lsofBytes))
	if len(out) == lsofBytes {
		cancel() // it would wait for a reader
	}
	waitErr := cmd.Wait()
	if ctx.Err() != nil || readErr != nil {
		return nil, fmt.Errorf("%s did not finish: %w", lsofPath, errors.Join(ctx.Err(), readErr))
	}
	// lsof exits 1 when any single file could not be examined.
	var exit *exec.ExitError
	if waitErr != nil && (!errors.As(waitErr, &exit) || len(out) == 0) {
		return nil, fmt.Errorf("%s: %w", lsofPath, waitErr)
	}
	return parseLsof(string(out)), nil
}

func (o *Observer) outOfSight(string) string { return "" }
