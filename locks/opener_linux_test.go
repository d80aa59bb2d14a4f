package locks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func openerOf(t *testing.T, openers []Opener, pid int) Opener {
	t.Helper()
	i := slices.IndexFunc(openers, func(o Opener) bool { return o.PID == pid })
	if i < 0 {
		t.Fatalf("pid %d is not among the openers %+v", pid, openers)
	}
	return openers[i]
}

func TestEveryProcessWithAPalaceOpenIsListed(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	db := filepath.Join(p, "chroma.sqlite3")
	vectors := filepath.Join(p, "0b7c2e1a-0000-4000-8000-000000000001", "data_level0.bin")
	mine := act(t, part{Lock: lockFile(t, h, p), Body: "PID mempalace mine", Open: []string{db, db, vectors}}, "/usr/bin/mempalace", "mine", "/x")
	waiting := act(t, part{Open: []string{db}}, "mempalace", "mine", "/x")
	server := act(t, part{Open: []string{db}}, "python3", "-m", "mempalace.mcp_server")
	idle := act(t, part{}, "mempalace-mcp")
	ours, err := os.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()

	s := survey(t, observe(h, Options{SampleInterval: -1}), Target{Path: p})
	if len(s.Openers) != 3 {
		t.Fatalf("openers %+v, want three: not ourselves, not %d", s.Openers, idle.pid)
	}
	got := openerOf(t, s.Openers, mine.pid)
	want := []OpenFile{{Path: vectors, Writable: true}, {Path: db, Writable: true}}
	if !slices.Equal(got.Files, want) || !got.Writer || got.Role != RoleMine || got.RSS <= 0 || got.Note != "" || got.Palace != p {
		t.Errorf("%+v", got)
	}
	if got := openerOf(t, s.Openers, waiting.pid); got.Writer || got.Role != RoleMine {
		t.Errorf("%+v", got)
	}
	if got := openerOf(t, s.Openers, server.pid); got.Writer || got.Role != RoleMCP {
		t.Errorf("%+v", got)
	}
}

func TestOpenersAreFoundUnderOtherSpellings(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	link := filepath.Join(h, "link")
	if err := os.Symlink(p, link); err != nil {
		t.Fatal(err)
	}
	// A hard link stands for a bind mount: another path of the same inode.
	other := filepath.Join(h, "elsewhere", "chroma.sqlite3")
	if err := os.Mkdir(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(p, "chroma.sqlite3"), other); err != nil {
		t.Fatal(err)
	}
	a := act(t, part{Open: []string{other}}, "chroma", "run", "--path", "/data")
	decoy := filepath.Join(h, "decoy", "chroma.sqlite3")
	write(t, decoy, "another database")
	act(t, part{Open: []string{decoy, filepath.Join(h, "decoy.sqlite3")}}, "chroma", "run")
	v := view(t, observe(h, Options{}), link)
	if len(v.Openers) != 1 {
		t.Fatalf("openers %+v", v.Openers)
	}
	got := openerOf(t, v.Openers, a.pid)
	if got.Role != RoleChroma || got.Files[0].Path != filepath.Join(link, "chroma.sqlite3") || got.Files[0].Moved || got.Files[0].Deleted {
		t.Errorf("%+v", got)
	}
}

func TestAPalaceReachedByTwoKeysIsHeldUnderEither(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	mounted := filepath.Join(h, "mnt", "palace")
	a := act(t, part{Lock: lockFile(t, h, mounted)}, "mempalace", "mine")
	spelled := filepath.Join(p, "..", "palace", ".")
	o := observe(h, Options{SampleInterval: -1})
	s := survey(t, o, Target{Path: p, Spellings: []string{spelled, mounted}, Keys: []string{Key(p), "0123456789abcdef", "no key"}})
	v := s.Palace(p)
	if v.Lock.State != Held || v.Lock.Holder.PID != a.pid || v.Lock.Key != Key(mounted) {
		t.Errorf("%+v", v.Lock)
	}
	var keys []string
	for _, l := range v.Others {
		if l.State != Free {
			t.Errorf("%+v", l)
		}
		keys = append(keys, l.Key)
	}
	if want := []string{Key(p), "0123456789abcdef"}; !slices.Equal(keys, want) {
		t.Errorf("other keys %v, want %v", keys, want)
	}
	if v := s.Palace("/not/surveyed"); v.Lock.State != StateUnknown {
		t.Errorf("a palace nobody asked about is %s", v.Lock.State)
	}
}

func TestADeletedDatabaseStillOpenIsTold(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	db := filepath.Join(p, "chroma.sqlite3")
	a := act(t, part{Open: []string{db}}, "mempalace-mcp")
	o := observe(h, Options{})
	check := func(when string, marked bool) {
		t.Helper()
		got := openerOf(t, view(t, o, p).Openers, a.pid)
		if len(got.Files) != 1 || got.Files[0].Path != db || got.Files[0].Deleted != marked || got.Files[0].Moved {
			t.Errorf("%s: %+v", when, got.Files)
		}
		if marked != strings.Contains(got.Note, "chroma.sqlite3") {
			t.Errorf("%s: note %q", when, got.Note)
		}
	}
	check("at first", false)
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	check("the database removed", true)
	write(t, db, "a new database")
	check("and made again", true)
	if err := os.RemoveAll(p); err != nil {
		t.Fatal(err)
	}
	check("the whole palace removed", true)
	palaceIn(t, h)
	check("and made again", true)
}

func TestAPalaceMovedAwayWhileOpenIsTold(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	db := filepath.Join(p, "chroma.sqlite3")
	a := act(t, part{Open: []string{db}}, "mempalace-mcp")
	aside := p + ".pre-rebuild-20260101-120000"
	if err := os.Rename(p, aside); err != nil {
		t.Fatal(err)
	}
	palaceIn(t, h)
	got := openerOf(t, view(t, observe(h, Options{}), p).Openers, a.pid)
	if f := got.Files[0]; len(got.Files) != 1 || f.Path != filepath.Join(aside, "chroma.sqlite3") || !f.Moved || f.Deleted || !strings.Contains(got.Note, aside) {
		t.Errorf("%+v, note %q", got.Files, got.Note)
	}
	// The same name beside it that is no archive of it is another palace.
	if err := os.Rename(aside, p+"s"); err != nil {
		t.Fatal(err)
	}
	if v := view(t, observe(h, Options{}), p); len(v.Openers) != 0 {
		t.Errorf("%+v", v.Openers)
	}
}

func TestAJournalBetweenTwoCommitsIsNoAlarm(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	journal := filepath.Join(p, "chroma.sqlite3-journal")
	act(t, part{Open: []string{journal}}, "mempalace", "mine")
	if err := os.Remove(journal); err != nil {
		t.Fatal(err)
	}
	if v := view(t, observe(h, Options{}), p); len(v.Openers) != 0 {
		t.Errorf("%+v", v.Openers)
	}
}

func TestLocksOnDatabaseFilesAreShown(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	db := filepath.Join(p, "chroma.sqlite3")
	st := statOf(t, db)
	proc := fakeProc(t, map[string]string{
		"locks":       "",
		"77/stat":     "77 (mempalace) S 1 77 77 0 -1 4194304 0 0 0 0 5 3 0 0 20 0 1 0 900 0 100 0",
		"77/fdinfo/5": fmt.Sprintf("flags:\t0100002\nlock:\t1: POSIX  ADVISORY  READ 77 %s 1073741826 1073742335\n", place(st.Dev, st.Ino)),
		"77/fdinfo/6": fmt.Sprintf("flags:\t0100000\nlock:\t1: POSIX  ADVISORY  READ 77 %s 1 1\nlock:\t2: POSIX  ADVISORY  WRITE 77 %s 120 120\n", place(st.Dev, st.Ino), place(st.Dev, st.Ino)),
	}, map[string]string{"self/ns/pid": initNS, "77/fd/5": db, "77/fd/6": db, "77/fd/7": "socket:[1]", "77/fd/8": p})
	got := openerOf(t, view(t, NewObserver(Options{Home: h, ProcRoot: proc}), p).Openers, 77)
	want := []OpenFile{{Path: db, Writable: true, Lock: "read"}, {Path: db, Lock: "write"}}
	slices.SortFunc(got.Files, func(x, y OpenFile) int { return strings.Compare(x.Lock, y.Lock) })
	if !slices.Equal(got.Files, want) {
		t.Errorf("%+v", got.Files)
	}
}

func TestAFIFOInTheWayBlocksNothing(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := filepath.Join(h, "palace")
	if err := os.MkdirAll(p, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{File(Directory(h), Key(p)), filepath.Join(h, "fifo"), filepath.Join(p, "chroma.sqlite3")} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(Directory(h), "0123456789abcdef.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := survey(t, observe(h, Options{}), Target{Path: p}, Target{Path: filepath.Join(h, "fifo")})
	if v := s.Palace(p); v.Lock.State != Free || len(s.Gaps) == 0 {
		t.Errorf("%+v, gaps %v", v.Lock, s.Gaps)
	}
	// A FIFO where ~/.mempalace should be.
	h = realpath(t.TempDir())
	if err := syscall.Mkfifo(filepath.Join(h, ".mempalace"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v := view(t, observe(h, Options{}), p); v.Lock.State == Held || v.Lock.State == Free {
		t.Errorf("%+v", v.Lock)
	}
}
