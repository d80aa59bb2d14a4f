package locks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	ticksPerSecond = 100        // USER_HZ, the same on every Linux that Go runs on
	kernelThread   = 0x00200000 // PF_KTHREAD in the flags of /proc/PID/stat
	notYetExecuted = 0x00000040 // PF_FORKNOEXEC
	maxArguments   = 64 << 10
	maxAncestors   = 32
)

// process describes a process from /proc, and tells whether there is one.
func (o *Observer) process(pid int) (Process, bool) {
	st, err := o.stat(pid)
	if err != nil {
		return Process{}, false
	}
	argv := o.arguments(pid)
	p := Process{
		PID: pid, PPID: st.ppid, State: st.state,
		Name: shownName(st.comm, argv), Command: commandLine(argv), Role: roleOf(argv),
		RSS: st.rssPages * int64(os.Getpagesize()), Orphan: o.orphan(st),
		birth: st.birth, cpu: st.cpu, hasCPU: true, kernel: st.flags&kernelThread != 0,
	}
	if boot := o.boot(); !boot.IsZero() {
		p.Started = boot.Add(ticks(st.birth))
	}
	for at := st.ppid; at > 0 && len(p.Parents) < maxAncestors; {
		up, err := o.stat(at)
		if err != nil {
			break
		}
		p.Parents = append(p.Parents, Ancestor{PID: at, Name: shownName(up.comm, o.arguments(at))})
		at = up.ppid
	}
	return p, true
}

// orphan: see Process.Orphan.
func (o *Observer) orphan(st procStat) bool {
	if st.ppid <= 0 {
		return false
	}
	parent, err := o.stat(st.ppid)
	if err != nil {
		return false
	}
	if st.session != st.pid {
		return st.session > 0 && parent.session != st.session
	}
	if parent.comm != "systemd" {
		return false
	}
	group, err := o.read(st.pid, "cgroup", 4096)
	return err == nil && strings.HasSuffix(strings.TrimSpace(string(group)), ".scope")
}

// procStat is what /proc/PID/stat gives.
type procStat struct {
	pid, ppid, session int
	comm, state        string
	flags, birth       uint64
	cpu                time.Duration
	rssPages           int64
}

func (o *Observer) stat(pid int) (procStat, error) {
	raw, err := o.read(pid, "stat", 4096)
	if err != nil {
		return procStat{}, err
	}
	return parseStat(raw)
}

var errStat = errors.New("no process status line")

// parseStat reads a status line (proc_pid_stat(5)). The name in parentheses
// may hold anything, parentheses and blanks included, so the last one ends it.
func parseStat(raw []byte) (procStat, error) {
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 0 || end < open {
		return procStat{}, errStat
	}
	fields := strings.Fields(string(raw[end+1:])) // fields[0] is field 3
	if len(fields) < 22 {
		return procStat{}, errStat
	}
	var bad error
	number := func(field int) uint64 {
		// Some fields are signed, with -1 for "none".
		n, err := strconv.ParseInt(fields[field-3], 10, 64)
		if err != nil {
			bad = fmt.Errorf("%w: field %d", errStat, field)
		}
		return uint64(n)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw[:open])))
	if err != nil {
		return procStat{}, errStat
	}
	st := procStat{
		pid: pid, comm: string(raw[open+1 : end]), state: fields[0],
		ppid: int(number(4)), session: int(number(6)), flags: number(9),
		cpu: ticks(number(14) + number(15)), birth: number(22), rssPages: int64(number(24)),
	}
	return st, bad
}

func ticks(n uint64) time.Duration {
	return time.Duration(n) * (time.Second / ticksPerSecond)
}

func (o *Observer) arguments(pid int) []string {
	raw, err := o.read(pid, "cmdline", maxArguments)
	raw = bytes.TrimRight(raw, "\x00")
	if err != nil || len(raw) == 0 {
		return nil
	}
	return strings.Split(string(raw), "\x00")
}

// read reads one file of a process, at most limit bytes.
func (o *Observer) read(pid int, name string, limit int64) ([]byte, error) {
	return readUpTo(filepath.Join(o.proc, strconv.Itoa(pid), name), limit)
}

func readUpTo(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// bootTime is read once: starts of processes stay comparable although the
// wall clock may be set.
func (o *Observer) bootTime() time.Time {
	raw, err := readUpTo(filepath.Join(o.proc, "stat"), 16<<20)
	if err != nil {
		return time.Time{}
	}
	_, after, ok := bytes.Cut(raw, []byte("\nbtime "))
	if !ok {
		return time.Time{}
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	seconds, err := strconv.ParseInt(string(line), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
