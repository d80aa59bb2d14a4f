package locks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Of a process whose open files cannot be looked at it is asked whether it
// could have a palace open at all. Everything that is asked is shown to
// everybody: owner and mode bits on the one hand, /proc/PID/status, stat and
// cmdline on the other. Whatever cannot be told is answered with yes.
//
//  1. May it? A Chroma or MemPalace that may not write to the database does not
//     get it open: chromadb 1.5.9 fails with SQLite's error 8 while it starts.
//     A process may if any of its user ids, with any of its groups, may search
//     every directory on the way and read and write one of the databases. An
//     access control list on the way counts as permission. User 0, or any
//     capability, may everything. Who lives in a PID namespace of its own is in
//     a container, where the palace can be mounted without the directories
//     above it, so only the palace's own bits count then.
//  2. Is it a program of a kind that keeps palaces? See keepsPalaces. This is
//     asked of who may, that is root's processes and those of our own user that
//     keep debuggers out, as ssh-agent does: on every machine there are some. It
//     is not asked of those in a container, whose programs are not our files.
//
// What this does not see: a process that was started with more rights, opened
// the database, and gave all of them up; and one that calls itself by another
// program's name.

// reachers lists, for each palace of the query, the hidden processes that could
// have it open.
func (s *scanner) reachers() [][]int {
	out := make([][]int, len(s.q.palaces))
	var strangers []stranger
	for pid := range s.hidden {
		if st, ok := s.stranger(pid); ok {
			strangers = append(strangers, st)
		}
	}
	if len(strangers) == 0 {
		return out
	}
	for i, p := range s.q.palaces {
		var ways []way
		for _, root := range p.roots {
			ways = append(ways, wayTo(root))
		}
		for _, st := range strangers {
			if slices.ContainsFunc(ways, st.may) {
				out[i] = append(out[i], st.pid)
			}
		}
		slices.Sort(out[i])
	}
	return out
}

// stranger is a hidden process of a kind that could keep a palace.
type stranger struct {
	pid     int
	uids    []uint32 // real, effective, saved, for files
	gids    []uint32
	power   bool // it can pass mode bits
	apart   bool // it has a PID namespace of its own
	unknown bool // nothing of this could be read
}

// stranger describes a hidden process; false = it is gone, or no keeper of
// palaces.
func (s *scanner) stranger(pid int) (stranger, bool) {
	st, err := s.o.stat(pid)
	raw, readErr := s.o.read(pid, "status", 64<<10)
	switch err := errors.Join(err, readErr); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		return stranger{}, false
	case err != nil:
		return stranger{pid: pid, unknown: true}, true
	case st.state == "Z" || st.state == "X":
		return stranger{}, false // it has closed everything
	}
	x, ok := parseCredentials(raw)
	x.pid, x.unknown = pid, !ok
	if !x.unknown && !x.apart && !keepsPalaces(s.o.arguments(pid), st.comm) {
		return stranger{}, false
	}
	return x, true
}

// parseCredentials reads what /proc/PID/status says of rights
// (proc_pid_status(5)): four ids of the user and the group, further groups,
// capabilities in hexadecimal, and the pid in each namespace from ours inwards.
func parseCredentials(raw []byte) (x stranger, ok bool) {
	lines := 0
	numbers := func(value string) (list []uint32) {
		for _, f := range strings.Fields(value) {
			n, err := strconv.ParseUint(f, 10, 32)
			if err != nil {
				return nil
			}
			list = append(list, uint32(n))
		}
		return list
	}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "Uid":
			x.uids = numbers(value)
			x.power = x.power || slices.Contains(x.uids, 0)
		case "Gid":
			x.gids = append(x.gids, numbers(value)...)
			lines++
		case "Groups":
			x.gids = append(x.gids, numbers(value)...)
			lines++
		case "CapPrm", "CapEff":
			n, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			x.power = x.power || err != nil || n != 0
			lines++
		case "NSpid":
			x.apart = len(strings.Fields(value)) > 1
		}
	}
	return x, len(x.uids) == 4 && len(x.gids) >= 4 && lines == 4
}

// door is a directory to pass, or a database to open.
type door struct {
	uid, gid, mode uint32
	acl            bool // more may be permitted than the mode says
}

// way is what lies between a process and a palace's databases.
type way struct {
	above     []door // the directories above the palace
	dir       door
	databases []door
	unknown   bool // it could not be looked at
}

// wayTo looks at the way to a palace by its resolved path.
func wayTo(root string) (w way) {
	var err error
	if w.dir, err = doorAt(root); err != nil {
		return way{unknown: true}
	}
	for at := root; at != filepath.Dir(at); {
		at = filepath.Dir(at)
		d, err := doorAt(at)
		if err != nil {
			return way{unknown: true}
		}
		w.above = append(w.above, d)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return way{unknown: true}
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sqlite3") {
			continue
		}
		d, err := doorAt(filepath.Join(root, e.Name()))
		if err != nil {
			return way{unknown: true}
		}
		w.databases = append(w.databases, d)
	}
	return w
}

func doorAt(path string) (door, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return door{}, err
	}
	d := door{uid: st.Uid, gid: st.Gid, mode: uint32(st.Mode)}
	for _, list := range []string{"system.posix_acl_access", "system.nfs4_acl", "system.richacl"} {
		_, err := unix.Getxattr(path, list, nil)
		if err != unix.ENODATA && err != unix.EOPNOTSUPP {
			d.acl = true
		}
	}
	return d, nil
}

const (
	search    = 1 // the mode bits of one class
	writeBits = 2
	readBits  = 4
)

// may: see the rule above.
func (x stranger) may(w way) bool {
	if x.unknown || x.power || w.unknown {
		return true
	}
	return slices.ContainsFunc(x.uids, func(uid uint32) bool {
		passes := func(d door) bool { return d.permits(uid, x.gids, search) }
		if !passes(w.dir) || !x.apart && slices.ContainsFunc(w.above, func(d door) bool { return !passes(d) }) {
			return false
		}
		if len(w.databases) == 0 {
			return w.dir.permits(uid, x.gids, search|writeBits) // it could make one
		}
		return slices.ContainsFunc(w.databases, func(d door) bool { return d.permits(uid, x.gids, readBits|writeBits) })
	})
}

func (d door) permits(uid uint32, gids []uint32, bits uint32) bool {
	switch {
	case d.acl:
		return true
	case uid == d.uid:
		return d.mode>>6&bits == bits
	case slices.Contains(gids, d.gid):
		return d.mode>>3&bits == bits
	}
	return d.mode&bits == bits
}
