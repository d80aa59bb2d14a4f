package locks

import (
	"bytes"
	"time"

	"golang.org/x/sys/unix"
)

const maxAncestors = 32

// process describes a process from sysctl. Arguments of other users' processes
// and processor times are not to be had without C, so they stay open.
func (o *Observer) process(pid int) (Process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return Process{}, false
	}
	argv := arguments(pid)
	start := k.Proc.P_starttime
	p := Process{
		PID: pid, PPID: int(k.Eproc.Ppid), State: processState(k.Proc.P_stat),
		Name: shownName(programOf(k), argv), Command: commandLine(argv), Role: roleOf(argv),
		Started: time.Unix(start.Unix()),
		birth:   uint64(start.Nano()),
	}
	if len(argv) == 0 {
		p.Role = roleOf([]string{programOf(k)})
	}
	for at := p.PPID; at > 0 && len(p.Parents) < maxAncestors; {
		up, err := unix.SysctlKinfoProc("kern.proc.pid", at)
		if err != nil || int(up.Proc.P_pid) != at {
			break
		}
		p.Parents = append(p.Parents, Ancestor{PID: at, Name: shownName(programOf(up), arguments(at))})
		at = int(up.Eproc.Ppid)
	}
	return p, true
}

// processState turns SIDL, SRUN, SSLEEP, SSTOP, SZOMB of sys/proc.h into the
// letters that ps shows elsewhere.
func processState(stat int8) string {
	if stat < 1 || stat > 5 {
		return ""
	}
	return string("IRSTZ"[stat-1])
}

func programOf(k *unix.KinfoProc) string {
	name, _, _ := bytes.Cut(k.Proc.P_comm[:], []byte{0})
	return string(name)
}

func arguments(pid int) []string {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil
	}
	return parseProcArgs(raw)
}

func (o *Observer) bootTime() time.Time { return time.Time{} }
