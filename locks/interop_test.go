//go:build interop && unix

package locks

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// memPalace is a command that takes locks through MemPalace, in a home.
func memPalace(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	python := os.Getenv("CASTELLAN_PYTHON")
	if python == "" {
		t.Skip("CASTELLAN_PYTHON does not name a python with MemPalace")
	}
	script, err := filepath.Abs(filepath.Join("testdata", "peer.py"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stderr = os.Stderr
	return cmd
}

func TestMemPalaceHoldsAndWeAreRefusedNamingIt(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	a := startActor(t, memPalace(t, h, "hold", "palace", p), part{})
	held := refused(t, t.Context(), h, p+"/../palace")
	want := fmt.Sprintf("palace %s is held by PID %d (", p, a.pid)
	if !strings.HasPrefix(held.Error(), want) || !strings.Contains(held.Error(), "peer.py hold palace "+p) || held.Holder.Identity != Known || held.Holder.Since.IsZero() {
		t.Errorf("%q, %+v, want %q", held.Error(), held.Holder, want)
	}
	a.stop()
	free(t, h, p)
}

func TestWeHoldAndMemPalaceIsRefusedNamingUs(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	l := take(t, h, p)
	a := startActor(t, memPalace(t, h, "try", "palace", p), part{})
	argv := strings.Join(os.Args[:min(3, len(os.Args))], " ")
	want := fmt.Sprintf("refused: palace %s is held by PID %d (%s); wait for it to finish or stop the holder before retrying", p, os.Getpid(), argv)
	if a.said != want {
		t.Errorf("MemPalace says\n%q, want\n%q", a.said, want)
	}
	if err := errors.Join(l.Check(t.Context()), l.Release()); err != nil {
		t.Error(err)
	}
	if a := startActor(t, memPalace(t, h, "try", "palace", p), part{}); a.said != "taken" {
		t.Errorf("given back, and MemPalace says %q", a.said)
	}
}

// The same words on both sides, also with a lease on a palace that is seen
// through another mount, whose key MemPalace uses there.
func TestMemPalaceIsRefusedUnderEverySpelling(t *testing.T) {
	t.Parallel()
	h := home(t)
	p, other := palaceIn(t, h), filepath.Join(h, "mnt", "palace")
	l, err := Take(t.Context(), Target{Path: p, Spellings: []string{other}}, TakeOptions{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	for _, s := range []string{p, other} {
		a := startActor(t, memPalace(t, h, "try", "palace", s), part{})
		if want := fmt.Sprintf("refused: palace %s is held by PID %d (", s, os.Getpid()); !strings.HasPrefix(a.said, want) {
			t.Errorf("%s: MemPalace says %q", s, a.said)
		}
	}
}

func TestMemPalaceLocksTheSameFilesAsWe(t *testing.T) {
	t.Parallel()
	home, paths := oddPaths(t, realpath(t.TempDir()))
	var asked []string
	for _, p := range paths {
		asked = append(asked, hex.EncodeToString([]byte(p)))
	}
	question, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	cmd := memPalace(t, home, "keys")
	cmd.Stdin = strings.NewReader(string(question))
	raw, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var version string
	var theirs []string
	if err := json.Unmarshal(raw, &[]any{&version, &theirs}); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i, p := range paths {
		// Python cannot encode the second kind, so MemPalace cannot lock it.
		if p == "" || theirs[i] == "" {
			continue
		}
		compared++
		l, err := Take(t.Context(), Target{Path: p}, TakeOptions{Home: home})
		if err != nil {
			t.Errorf("%q: %v", p, err)
			continue
		}
		entries, err := os.ReadDir(Directory(home))
		if err != nil || len(entries) != 1 || entries[0].Name() != theirs[i] {
			t.Errorf("%q: we lock %v, MemPalace %s %s (%v)", p, entries, version, theirs[i], err)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			remove(t, filepath.Join(Directory(home), e.Name()))
		}
	}
	if compared < 100 {
		t.Errorf("only %d paths were compared", compared)
	}
	t.Logf("%d paths compared with MemPalace %s", compared, version)
}

// filesIn lists a home, with modes and without what the processes' own
// directories contain.
func filesIn(t *testing.T, home string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(home, path)
		out = append(out, fmt.Sprint(info.Mode(), " ", rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

func TestLockFilesLieWhereMemPalacePutsThem(t *testing.T) {
	t.Parallel()
	const palace, source = "/srv/palace", "/home/u/p/a.md"
	for _, dir := range []string{"", ".mempalace", ".mempalace/locks"} {
		ours, theirs := realpath(t.TempDir()), realpath(t.TempDir())
		for _, h := range []string{ours, theirs} {
			if err := os.MkdirAll(filepath.Join(h, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		take(t, ours, palace)
		s, err := TakeSource(t.Context(), source, SourceOptions{Home: ours})
		if err != nil {
			t.Fatal(err)
		}
		a := startActor(t, memPalace(t, theirs, "hold", "palace", palace), part{})
		b := startActor(t, memPalace(t, theirs, "hold", "source", source), part{})
		// MemPalace notes when it last tidied up.
		remove(t, filepath.Join(Directory(theirs), ".last_reap"))
		if got, want := filesIn(t, ours), filesIn(t, theirs); got != want {
			t.Errorf("a home with %q, source held:\n%s\nMemPalace:\n%s", dir, got, want)
		}
		a.stop()
		b.stop()
		if err := s.Release(); err != nil {
			t.Fatal(err)
		}
		if got, want := filesIn(t, ours), filesIn(t, theirs); got != want {
			t.Errorf("a home with %q, source given back:\n%s\nMemPalace:\n%s", dir, got, want)
		}
	}
}

func TestMemPalaceAndWeWaitForEachOthersSources(t *testing.T) {
	t.Parallel()
	h := home(t)
	const source = "/home/u/p/straße.md"
	a := startActor(t, memPalace(t, h, "hold", "source", source), part{})
	if f, err := grab(SourceFile(Directory(h), source)); !errors.Is(err, errBusy) {
		t.Fatalf("MemPalace holds it: %v, %v", f, err)
	}
	done := make(chan error, 1)
	go func() {
		s, err := TakeSource(context.Background(), source, SourceOptions{Home: h})
		if err == nil {
			err = s.Release()
		}
		done <- err
	}()
	a.stop()
	if err := <-done; err != nil {
		t.Error(err)
	}

	s, err := TakeSource(t.Context(), source, SourceOptions{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	cmd := memPalace(t, h, "try", "source", source)
	go func() {
		out, err := cmd.Output()
		said <- fmt.Sprint(strings.TrimSpace(string(out)), err)
	}()
	eventually(t, "MemPalace waits", func() bool {
		sv := survey(t, observe(h, Options{SampleInterval: -1}))
		return len(sv.Sources.Held) == 1 && waitsFor(t, SourceFile(Directory(h), source))
	})
	if err := s.Release(); err != nil {
		t.Error(err)
	}
	if got := <-said; got != "taken<nil>" {
		t.Errorf("MemPalace says %q", got)
	}
}

func TestNothingIsLostBesideMemPalace(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	const each = 60
	for kind, c := range map[string]peer{
		"palace": {Home: h, Palace: p, Count: each},
		"source": {Home: h, Source: "/p/a.md", Count: each},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c.Counter = filepath.Join(h, kind)
			write(t, c.Counter, "0")
			name := c.Palace + c.Source
			total := 0
			var all []*actor
			for range 2 {
				all = append(all,
					startActor(t, memPalace(t, h, "count", kind, name, c.Counter, strconv.Itoa(each)), part{}),
					act(t, part{Peer: &c}, "castellan", "mine"))
				total += 2 * each
			}
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					if err := c.count(t.Context()); err != nil {
						t.Error(err)
					}
				})
				total += each
			}
			wg.Wait()
			for _, a := range all {
				a.stop()
			}
			wantCount(t, c.Counter, total)
		})
	}
}

// The first lock of a home: everybody makes the directory and the file at once.
func TestTheFirstOfAllTakersIsOne(t *testing.T) {
	t.Parallel()
	for range 3 {
		h := realpath(t.TempDir())
		const each = 5
		c := peer{Home: h, Palace: filepath.Join(h, "palace"), Count: each, Counter: filepath.Join(h, "counter")}
		write(t, c.Counter, "0")
		var all []*actor
		for range 2 {
			all = append(all,
				startActor(t, memPalace(t, h, "count", "palace", c.Palace, c.Counter, strconv.Itoa(each)), part{}),
				act(t, part{Peer: &c}, "castellan", "mine"))
		}
		for _, a := range all {
			a.stop()
		}
		wantCount(t, c.Counter, len(all)*each)
	}
}

// waitsFor tells whether somebody is blocked on the lock of a file, by the
// kernel's table.
func waitsFor(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	id, _ := identify(info)
	table, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skip("this system shows nobody who waits")
	}
	for line := range strings.Lines(string(table)) {
		if strings.Contains(line, "-> FLOCK") && strings.Contains(line, fmt.Sprintf(":%d ", id.ino)) {
			return true
		}
	}
	return false
}
