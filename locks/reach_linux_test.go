package locks

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// shared makes a palace of nobody's, with a mode for its directory and one for
// its database.
func shared(t *testing.T, h string, dir, database os.FileMode) (palace string) {
	t.Helper()
	p := filepath.Join(h, "palace")
	write(t, filepath.Join(p, "chroma.sqlite3"), "database")
	for path, mode := range map[string]os.FileMode{p: dir, filepath.Join(p, "chroma.sqlite3"): database} {
		if err := errors.Join(os.Chown(path, 65534, 65534), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// Nobody looks at a palace of its own, while root and a third user run servers
// whose open files nobody may see.
func TestOnlyThoseWhoCouldHaveThePalaceOpenAreWaitedFor(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can be several users")
	}
	h := home(t)
	if err := os.Chmod(Directory(h), 0o755); err != nil {
		t.Fatal(err)
	}
	const group = 65500
	other := syscall.Credential{Uid: 65533, Gid: 65533, Groups: []uint32{group}}
	root := act(t, part{}, "/usr/bin/python3", "-m", "mempalace.mcp_server")
	third := asUser(t, h, other, part{}, "chroma", "run", "--path", "/data")
	daemon := exec.Command("/usr/bin/sleep", "1000")
	if err := daemon.Start(); err != nil {
		t.Skip("this system has no sleep of its own:", err)
	}
	t.Cleanup(func() { daemon.Process.Kill(); daemon.Wait() })

	check := func(what, p string, thirdCould bool) {
		t.Helper()
		s := unprivileged(t, h, p)
		if !slices.Contains(s.Reach, root.pid) {
			t.Errorf("%s: root's Python %d could have it open, only %v are told", what, root.pid, s.Reach)
		}
		if slices.Contains(s.Reach, third.pid) != thirdCould {
			t.Errorf("%s: of %d among %v, want %v", what, third.pid, s.Reach, thirdCould)
		}
		if slices.Contains(s.Reach, daemon.Process.Pid) {
			t.Errorf("%s: sleep has no palace open", what)
		}
		if s.Hidden <= len(s.Reach) {
			t.Errorf("%s: %d of %d hidden processes could have it open", what, len(s.Reach), s.Hidden)
		}
	}
	for _, c := range []struct {
		dir, database os.FileMode
		could         bool
	}{{0o700, 0o666, false}, {0o755, 0o644, false}, {0o755, 0o666, true}, {0o711, 0o606, true}, {0o710, 0o606, false}} {
		p := shared(t, h, c.dir, c.database)
		check(c.dir.String()+" "+c.database.String(), p, c.could)
	}
	p := shared(t, h, 0o710, 0o660)
	db := filepath.Join(p, "chroma.sqlite3")
	if err := errors.Join(os.Chown(p, 65534, group), os.Chown(db, 65534, group)); err != nil {
		t.Fatal(err)
	}
	check("by a group", p, true)
	p = shared(t, h, 0o711, 0o600)
	check("before a list", p, false)
	if err := unix.Setxattr(db, "system.posix_acl_access", aclFor(65533), 0); err != nil {
		t.Skip("no access control lists here:", err)
	}
	check("by a list", p, true)

	// Open to all, behind a closed door.
	closed := filepath.Join(h, "closed")
	p = shared(t, closed, 0o777, 0o666)
	if err := errors.Join(os.Chown(closed, 65534, 65534), os.Chmod(closed, 0o700)); err != nil {
		t.Fatal(err)
	}
	check("behind a closed door", p, false)
}

// aclFor grants one more user to read and write (linux/posix_acl_xattr.h):
// version u32, then tag u16, permissions u16, id u32 each.
func aclFor(uid uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][3]uint32{{1, 6, 0xffffffff}, {2, 6, uid}, {4, 0, 0xffffffff}, {0x10, 6, 0xffffffff}, {0x20, 0, 0xffffffff}} {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, uint16(e[1]))
		b = binary.LittleEndian.AppendUint32(b, e[2])
	}
	return b
}

func TestRightsThatCannotBeReadCountAsAll(t *testing.T) {
	t.Parallel()
	const plain = "Name:\tx\nUid:\t5\t5\t5\t5\nGid:\t6\t6\t6\t6\nGroups:\t7 8 \nNSpid:\t99\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
	for _, c := range []struct {
		old, new          string
		ok, power, nested bool
	}{
		{"", "", true, false, false},
		{"Uid:\t5\t5\t5\t5", "Uid:\t5\t5\t0\t5", true, true, false},
		{"CapPrm:\t0000000000000000", "CapPrm:\t0000000000000002", true, true, false},
		{"CapPrm:\t0000000000000000", "CapPrm:\twhat", true, true, false},
		{"NSpid:\t99", "NSpid:\t99\t1", true, false, true},
		{"Uid:\t5\t5\t5\t5\n", "", false, false, false},
		{"Groups:\t7 8 \n", "", false, false, false},
		{"CapEff:\t0000000000000000\n", "", false, false, false},
		{"Gid:\t6\t6\t6\t6", "Gid:\t6\tx", false, false, false},
	} {
		x, ok := parseCredentials([]byte(strings.Replace(plain, c.old, c.new, 1)))
		if ok != c.ok || ok && (x.power != c.power || x.apart != c.nested) {
			t.Errorf("%q: %+v, %v", c.new, x, ok)
		}
	}
	x, _ := parseCredentials([]byte(plain))
	if !slices.Equal(x.uids, []uint32{5, 5, 5, 5}) || !slices.Equal(x.gids, []uint32{6, 6, 6, 6, 7, 8}) {
		t.Errorf("%+v", x)
	}
}

func TestWhoMayOpenAPalace(t *testing.T) {
	t.Parallel()
	open, closed := door{1, 1, 0o755, false}, door{1, 1, 0o700, false}
	public, private := door{1, 1, 0o666, false}, door{1, 1, 0o600, false}
	other := stranger{uids: []uint32{5, 5, 5, 5}, gids: []uint32{5}}
	owner := stranger{uids: []uint32{5, 5, 1, 5}, gids: []uint32{5}}
	member := stranger{uids: []uint32{5, 5, 5, 5}, gids: []uint32{5, 1}}
	contained := other
	contained.apart = true
	for i, c := range []struct {
		x    stranger
		w    way
		want bool
	}{
		{other, way{dir: open, databases: []door{private}}, false},
		{other, way{dir: open, databases: []door{private, public}}, true},
		{other, way{dir: closed, databases: []door{public}}, false},
		{other, way{above: []door{open, closed}, dir: open, databases: []door{public}}, false},
		{contained, way{above: []door{open, closed}, dir: open, databases: []door{public}}, true},
		{contained, way{dir: closed, databases: []door{public}}, false},
		{owner, way{above: []door{closed}, dir: closed, databases: []door{private}}, true},
		{member, way{dir: open, databases: []door{{1, 1, 0o606, false}}}, false}, // the group's class decides
		{other, way{dir: door{1, 1, 0o700, true}, databases: []door{{1, 1, 0o600, true}}}, true},
		{other, way{dir: open}, false}, // no database, and none to be made
		{other, way{dir: door{1, 1, 0o777, false}}, true},
		{other, way{unknown: true}, true},
		{stranger{unknown: true}, way{dir: closed}, true},
		{stranger{power: true}, way{dir: closed}, true},
	} {
		if got := c.x.may(c.w); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}

func TestWhatCouldBeAKeeperOfPalaces(t *testing.T) {
	t.Parallel()
	if _, ok := systemFile("/usr/bin/sleep"); !ok {
		t.Skip("this system keeps its programs elsewhere")
	}
	for _, c := range []struct {
		argv []string
		comm string
		want bool
	}{
		{[]string{"/usr/bin/sleep", "5"}, "sleep", false},
		{[]string{"sleep", "5"}, "sleep", false},
		{[]string{"/usr/bin/sleep", "5"}, "python3", true}, // it calls itself by another name
		{[]string{"sleep: master process"}, "sleep", false},
		{[]string{"/usr/bin/sleep", "--path", "/srv/My-Palace"}, "sleep", true},
		{[]string{"/usr/bin/sleep", "uvicorn app:main"}, "sleep", true},
		{[]string{"/usr/local/bin/sleep"}, "sleep", true},
		{[]string{"/usr/bin/no-such-program"}, "no-such-program", true},
		{[]string{"./sleep"}, "sleep", true},
		{[]string{"chroma", "run"}, "chroma", true},
		{[]string{"/usr/bin/chroma", "run"}, "chroma", true},
		{[]string{"node", "index.js"}, "node", true},
		{[]string{"/usr/bin/perl", "x"}, "perl", true},
		{[]string{"/usr/bin/python3.11", "/opt/x.py"}, "python3.11", true},
		{[]string{"python3", "/opt/networkd-dispatcher"}, "python3", true}, // not the distribution's
		{[]string{"python3", "-c", "networkd-dispatcher"}, "python3", true},
		{[]string{"/usr/bin/sleep", strings.Repeat("x", maxArguments)}, "sleep", true},
		{[]string{""}, "sleep", true},
		{nil, "sleep", true},
	} {
		if got := keepsPalaces(c.argv, c.comm); got != c.want {
			t.Errorf("%.60q as %q: %v", c.argv, c.comm, got)
		}
	}
}
