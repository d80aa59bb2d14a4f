package locks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// scan looks at the kernel's lock table and then at every process's open
// files. Neither is enough: the table omits a lock whose taker lives outside
// our PID namespace or has died in one, and the files of others cannot be
// read.
func (o *Observer) scan(ctx context.Context, q query) (*sight, error) {
	s := &scanner{o: o, q: q, sight: newSight(), namespaces: map[int]string{}, self: o.self()}
	if err := s.table(); err != nil {
		s.gaps = append(s.gaps, err)
		s.blind = "the kernel's lock table cannot be read: " + clean(err.Error())
	}
	if s.blind == "" && q.dir != "" {
		s.blind = o.outside(q.dir)
	}
	if err := s.processes(ctx); err != nil {
		return nil, err
	}
	s.settle()
	s.reach = s.reachers()
	return s.sight, nil
}

// self is our own pid as /proc counts it, which may be that of another
// namespace than ours.
func (o *Observer) self() int {
	if name, err := os.Readlink(filepath.Join(o.proc, "self")); err == nil {
		if pid, ok := parsePID(name); ok {
			return pid
		}
	}
	return os.Getpid()
}

type scanner struct {
	o *Observer
	q query
	*sight
	namespaces map[int]string // mount namespace of a process
	self       int            // our pid in the namespace that /proc shows
	link       [unix.PathMax + 64]byte
}

// table matches the kernel's lock table with the lock files, by device and
// inode.
func (s *scanner) table() error {
	all, err := s.o.lockTable()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(l kernelLock) bool { return l.kind != "FLOCK" })
	if s.q.dir == "" || len(all) == 0 {
		return nil
	}
	// The table has the superblock's device. On btrfs and overlayfs a file's own
	// device is another one, and inode numbers repeat below one superblock.
	super, haveSuper := s.o.mountOf(s.q.dir)
	byInode := map[uint64][]kernelLock{}
	for _, l := range all {
		byInode[l.ino] = append(byInode[l.ino], l)
	}
	for _, names := range [][]string{s.q.names, s.q.sources} {
		for _, name := range names {
			var st unix.Stat_t
			if unix.Stat(filepath.Join(s.q.dir, name), &st) != nil {
				continue
			}
			for _, l := range byInode[st.Ino] {
				sure := l.dev == st.Dev
				if !sure && !(haveSuper && l.dev == super.dev) {
					continue
				}
				seen := lockNamed(s.locks, name)
				if !sure {
					seen.doubt = "the kernel's lock table shows a lock that may be on another file with the same number"
				}
				if l.waiting {
					seen.waiters = append(seen.waiters, l.pid)
				} else {
					seen.takers = append(seen.takers, l.pid)
				}
			}
		}
	}
	return nil
}

// processes looks through the open files of every process.
func (s *scanner) processes(ctx context.Context) error {
	dir, err := os.Open(s.o.proc)
	if err != nil {
		return s.noProcesses(err)
	}
	names, err := dir.Readdirnames(-1)
	err = errors.Join(err, dir.Close())
	if err != nil {
		return s.noProcesses(err)
	}
	initSeen := false
	for _, name := range names {
		pid, ok := parsePID(name)
		if !ok {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		initSeen = initSeen || pid == 1
		if err := s.process(pid); errors.Is(err, fs.ErrPermission) && !s.isKernelThread(pid) {
			s.hidden[pid] = true
		}
	}
	if !initSeen {
		s.gaps = append(s.gaps, fmt.Errorf("%s does not show other users' processes (hidepid): those that have a palace open are missing", s.o.proc))
	}
	return nil
}

// noProcesses records that no open file of any process could be looked at.
func (s *scanner) noProcesses(err error) error {
	s.allHidden = true
	s.gaps = append(s.gaps, fmt.Errorf("listing processes: %w", err))
	return nil
}

func (s *scanner) isKernelThread(pid int) bool {
	st, err := s.o.stat(pid)
	return err == nil && st.flags&kernelThread != 0
}

// process looks through the descriptors of one process.
func (s *scanner) process(pid int) error {
	path := filepath.Join(s.o.proc, strconv.Itoa(pid), "fd")
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	at := int(dir.Fd())
	for {
		names, err := dir.Readdirnames(1024)
		for _, name := range names {
			n, err := unix.Readlinkat(at, name, s.link[:])
			if errors.Is(err, fs.ErrPermission) {
				return err
			}
			if err == nil && n > 0 && s.link[0] == '/' {
				s.descriptor(pid, at, name, string(s.link[:n]))
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

const deletedMark = " (deleted)"

// descriptor judges one open file. The link's text only says whether a closer
// look is worth it (a stat may block on a dead network mount): what it shows
// of another mount namespace can look like our path and be another file.
func (s *scanner) descriptor(pid, at int, fd, text string) {
	path, deleted := strings.CutSuffix(text, deletedMark)
	base := path[strings.LastIndexByte(path, '/')+1:]
	kind, _ := parseName(base)
	if kind != nameOther && s.q.dir != "" {
		s.lockFile(pid, at, fd, path, base, deleted)
	}
	if pid == s.self {
		return
	}
	var wanted bool
	for _, p := range s.q.palaces {
		inside, beside := p.below(path)
		wanted = wanted || inside || beside || p.names[base]
	}
	if wanted && !s.isOurFork(pid, at, fd, text) {
		s.palaceFile(pid, at, fd, path, deleted)
	}
}

// isOurFork reports a child that was forked by us and had not yet become
// another program when its descriptor was read. For that moment it has all of
// ours, which close when it does.
func (s *scanner) isOurFork(pid, at int, fd, text string) bool {
	st, err := s.o.stat(pid)
	if err != nil || st.ppid != s.self {
		return false
	}
	if st.flags&notYetExecuted != 0 {
		return true
	}
	var link [unix.PathMax + 64]byte
	n, err := unix.Readlinkat(at, fd, link[:])
	return err != nil || string(link[:n]) != text
}

func (s *scanner) lockFile(pid, at int, fd, path, name string, deleted bool) {
	var open, here, dir unix.Stat_t
	if unix.Fstatat(at, fd, &open, 0) != nil {
		return
	}
	d := s.descriptorInfo(pid, fd)
	if !d.flocked() {
		return
	}
	err := unix.Stat(filepath.Join(s.q.dir, name), &here)
	if err == nil && here.Dev == open.Dev && here.Ino == open.Ino {
		seen := lockNamed(s.locks, name)
		seen.havers = append(seen.havers, pid)
		return
	}
	if !deleted || unix.Stat(s.q.dir, &dir) != nil || dir.Dev != open.Dev {
		return // a file of that name in another directory
	}
	if parent := filepath.Dir(path); parent == s.q.dir || parent == realpath(s.q.dir) {
		seen := lockNamed(s.unlinked, name)
		seen.havers = append(seen.havers, pid)
	}
}

func (s *scanner) palaceFile(pid, at int, fd, path string, deleted bool) {
	var open unix.Stat_t
	exists := unix.Fstatat(at, fd, &open, 0) == nil
	if exists && open.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	// SQLite unlinks its rollback journal at every commit: seen in between, it is
	// no sign of anything.
	if deleted && strings.HasSuffix(path, "-journal") {
		return
	}
	id := fileID{open.Dev, open.Ino}
	for i, p := range s.q.palaces {
		f := OpenFile{Path: path}
		inside, beside := p.below(path)
		rel, indexed := p.byID[id]
		switch {
		case exists && indexed:
			f.Path = filepath.Join(p.path, rel)
		case !inside && !beside:
			continue
		case !s.samePlace(pid, p, open.Dev, exists):
			continue
		case beside:
			f.Moved, f.Deleted = true, deleted
		case deleted:
			f.Deleted = true
		default:
			// Made since the palace was listed, or covered by another file.
			var now unix.Stat_t
			f.Moved = unix.Stat(path, &now) != nil || now.Dev != open.Dev || now.Ino != open.Ino
		}
		d := s.descriptorInfo(pid, fd)
		f.Writable, f.Lock = d.writable, d.strongest()
		s.files = append(s.files, openFile{pid: pid, palace: i, OpenFile: f})
	}
}

// samePlace tells whether a path shown for another process means ours: it
// lies on the palace's device, or the process sees the same mounts as we do.
func (s *scanner) samePlace(pid int, p *palaceFiles, dev uint64, exists bool) bool {
	return exists && p.devs[dev] || s.namespace(pid) == s.namespace(s.self)
}

func (s *scanner) namespace(pid int) string {
	ns, ok := s.namespaces[pid]
	if !ok {
		ns, _ = os.Readlink(filepath.Join(s.o.proc, strconv.Itoa(pid), "ns", "mnt"))
		s.namespaces[pid] = ns
	}
	return ns
}

func (s *scanner) descriptorInfo(pid int, fd string) descriptor {
	raw, err := readUpTo(filepath.Join(s.o.proc, strconv.Itoa(pid), "fdinfo", fd), 1<<20)
	if err != nil {
		return descriptor{}
	}
	return parseDescriptor(raw)
}

// settle compares the table, which was read first, with what the processes
// then showed.
func (s *scanner) settle() {
	again, err := s.o.lockTable()
	for name, seen := range s.locks {
		switch {
		case len(seen.havers) > 0:
			seen.doubt = "" // the holder's own descriptor confirms it
		case err == nil && !s.stillListed(name, again):
			delete(s.locks, name)
		case seen.doubt != "" && len(s.hidden) == 0 && !s.allHidden:
			delete(s.locks, name) // everybody was looked at: it is on another file
		}
	}
}

// stillListed guards against a lock given back between the two readings, which
// would be reported as held by nobody.
func (s *scanner) stillListed(name string, again []kernelLock) bool {
	var st unix.Stat_t
	if unix.Stat(filepath.Join(s.q.dir, name), &st) != nil {
		return false
	}
	for _, l := range again {
		if l.kind == "FLOCK" && l.ino == st.Ino {
			return true
		}
	}
	return false
}
