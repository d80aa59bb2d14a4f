package locks

import (
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestLinesOfTheKernelsLockTable(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]kernelLock{
		"1: FLOCK  ADVISORY  WRITE 8736 fe:00:9979027 0 EOF":        {false, "FLOCK", true, 8736, unix.Mkdev(0xfe, 0), 9979027},
		"1: -> FLOCK  ADVISORY  WRITE 8741 fe:00:9979027 0 EOF":     {true, "FLOCK", true, 8741, unix.Mkdev(0xfe, 0), 9979027},
		"1:   -> FLOCK  ADVISORY  READ 8741 08:12:5 0 EOF":          {true, "FLOCK", false, 8741, unix.Mkdev(8, 0x12), 5},
		"12: POSIX  ADVISORY  READ 7 00:2f:12 1073741826 107374233": {false, "POSIX", false, 7, unix.Mkdev(0, 0x2f), 12},
		"2: OFDLCK ADVISORY  WRITE -1 fe:00:5 0 0":                  {false, "OFDLCK", true, -1, unix.Mkdev(0xfe, 0), 5},
		"3: LEASE  BREAKING  READ 5 <none>:0 0 EOF":                 {false, "LEASE", false, 5, 0, 0},
		"4: FLOCK  MSNFS     WRITE 0 103:1f:18446744073709551615 0": {false, "FLOCK", true, 0, unix.Mkdev(0x103, 0x1f), 1<<64 - 1},
	} {
		if got, err := parseLock(line); err != nil || got != want {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
	for _, line := range []string{"", "\n", "1:", "1: ->", "1: FLOCK ADVISORY WRITE x fe:00:1 0 EOF", "1: FLOCK ADVISORY WRITE 1 zz:00:1 0 EOF", "1: FLOCK ADVISORY WRITE 1 fe:00:99999999999999999999 0 EOF"} {
		if l, err := parseLock(line); err == nil {
			t.Errorf("%q was taken for %+v", line, l)
		}
	}
}

func TestADescriptorsOwnLocks(t *testing.T) {
	t.Parallel()
	d := parseDescriptor([]byte("pos:\t0\nflags:\t02100002\nmnt_id:\t27\nino:\t9\nlock:\t1: FLOCK  ADVISORY  WRITE 5 fe:00:9 0 EOF\n"))
	if !d.writable || !d.flocked() || d.strongest() != "write" {
		t.Errorf("%+v", d)
	}
	d = parseDescriptor([]byte("flags:\t0100000\nlock:\t1: LEASE  ACTIVE  WRITE 5 fe:00:9 0 EOF\nlock:\tgarbage\n"))
	if d.writable || d.flocked() || d.strongest() != "" {
		t.Errorf("%+v", d)
	}
	if d := parseDescriptor(nil); d.writable || d.flocked() {
		t.Errorf("%+v", d)
	}
}

func TestStatusLinesWithHostileNames(t *testing.T) {
	t.Parallel()
	st, err := parseStat([]byte("77 (a) S 1 (b) R 9) S 5 77 76 0 -1 4194304 0 0 0 0 150 50 0 0 20 0 1 0 900 0 100 0\n"))
	want := procStat{pid: 77, ppid: 5, session: 76, comm: "a) S 1 (b) R 9", state: "S", flags: 4194304, birth: 900, cpu: 2 * time.Second, rssPages: 100}
	if err != nil || st != want {
		t.Errorf("%+v, %v", st, err)
	}
	for _, raw := range []string{"", "77", ")(", "77 (a", "77 (a) S 1", "x (a) S 5 77 76 0 -1 4194304 0 0 0 0 150 50 0 0 20 0 1 0 900 0 100 0", "77 (a) S five 77 76 0 -1 4194304 0 0 0 0 150 50 0 0 20 0 1 0 900 0 100 0"} {
		if st, err := parseStat([]byte(raw)); err == nil {
			t.Errorf("%q was taken for %+v", raw, st)
		}
	}
}

func FuzzKernelTexts(f *testing.F) {
	f.Add([]byte("1: FLOCK  ADVISORY  WRITE 8736 fe:00:9979027 0 EOF"))
	f.Add([]byte("77 (a) S 5 77 76 0 -1 4194304 0 0 0 0 150 50 0 0 20 0 1 0 900 0 100 0"))
	f.Add([]byte("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw"))
	f.Add([]byte("flags:\t02100002\nlock:\t1: FLOCK  ADVISORY  WRITE 5 fe:00:9 0 EOF\n"))
	f.Add([]byte("p412\nf3\nau\ntREG\nD0x1000004\ni77\nn/x\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		parseDescriptor(raw)
		if l, err := parseLock(string(raw)); err == nil && l.kind == "" {
			t.Fatalf("a lock of no kind: %+v", l)
		}
		if st, err := parseStat(raw); err == nil && st.state == "" {
			t.Fatalf("a process without a state: %+v", st)
		}
		if m, ok := parseMount(string(raw)); ok && m.kind == "" {
			t.Fatalf("a mount of no kind: %+v", m)
		}
		for _, file := range parseLsof(string(raw)) {
			if file.pid <= 0 {
				t.Fatalf("a file of no process: %+v", file)
			}
		}
	})
}

func TestThisProcessIsDescribedAsItIs(t *testing.T) {
	t.Parallel()
	p, ok := NewObserver(Options{}).process(os.Getpid())
	if !ok || p.PPID != os.Getppid() || p.RSS <= 0 || p.State == "" {
		t.Fatalf("%+v", p)
	}
	if age := time.Since(p.Started); age < -reuseSlack || age > time.Hour {
		t.Errorf("started %v ago", age)
	}
	var up []int
	for _, a := range p.Parents {
		up = append(up, a.PID)
	}
	// In a PID namespace the parent may be outside.
	if os.Getppid() != 0 && !slices.Contains(up, os.Getppid()) {
		t.Errorf("parents %v", up)
	}
}

func TestOurDirectoryIsOnAMountOfOurOwn(t *testing.T) {
	t.Parallel()
	o := NewObserver(Options{})
	dir := t.TempDir()
	var x unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_MNT_ID, &x); err != nil || x.Mask&unix.STATX_MNT_ID == 0 {
		t.Skip("this kernel gives no mount ids")
	}
	m, ok := o.mountOf(dir)
	if !ok || m.id != x.Mnt_id || m.kind == "" {
		t.Errorf("%+v, %v", m, ok)
	}
	if why := o.outOfSight(t.TempDir() + "/missing"); why == "" {
		t.Error("the file system of a missing directory was asked, and answered")
	}
}

func TestMountLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]mount{
		"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": {36, unix.Mkdev(98, 0), "ext3"},
		"24 1 0:45 / / rw shared:1 - overlay overlay rw,lowerdir=/a - b": {24, unix.Mkdev(0, 45), "overlay"},
	} {
		if got, ok := parseMount(line); !ok || got != want {
			t.Errorf("%q: %+v", line, got)
		}
	}
	for _, line := range []string{"", " - ", "36 35 98 / / - ext3", "x 35 98:0 / / - ext3", "36 35 98:0 / / -"} {
		if m, ok := parseMount(line); ok {
			t.Errorf("%q was taken for %+v", line, m)
		}
	}
}
