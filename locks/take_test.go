package locks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func body(t testing.TB, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// wantBody is what MemPalace would have written as this process.
func wantBody() string {
	return strings.TrimSpace(fmt.Sprint(os.Getpid()) + " " + strings.Join(os.Args[:min(3, len(os.Args))], " "))
}

func TestTheFirstTakingMakesTheLockFileAsMemPalaceDoes(t *testing.T) {
	t.Parallel()
	h := realpath(t.TempDir())
	p := filepath.Join(h, "palace")
	l := take(t, h, p)
	path := File(Directory(h), Key(p))
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if got, want := string(body(t, path)), "\x00"+wantBody(); got != want {
		t.Errorf("the file has %q, want %q", got, want)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	for _, dir := range []string{filepath.Join(h, ".mempalace"), Directory(h)} {
		if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
}

func TestTheSentinelAndTheInodeSurviveATaking(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	path := File(Directory(h), Key(p))
	write(t, path, "S4711 /usr/bin/mempalace mine "+strings.Repeat("/long", 300))
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	l := take(t, h, p)
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if got, want := string(body(t, path)), "S"+wantBody(); got != want {
		t.Errorf("the file has %q, want %q", got, want)
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the lock file is another one afterwards (%v): whoever waits on it locks alone", err)
	}
}

func TestARefusedTakingLeavesTheHoldersTextAlone(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	take(t, h, p)
	path := File(Directory(h), Key(p))
	text := body(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, t.Context(), h, p)
	again, err := os.Stat(path)
	if err != nil || !again.ModTime().Equal(info.ModTime()) || !bytes.Equal(text, body(t, path)) {
		t.Errorf("the file changed by a refusal: %q, %v", body(t, path), err)
	}
}

func TestThisProcessIsNamedWhenItHoldsThePalaceItself(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	take(t, h, p)
	held := refused(t, t.Context(), h, p)
	if !held.Self || held.Holder.PID != os.Getpid() || held.Key != Key(p) {
		t.Errorf("%+v", held)
	}
	start := fmt.Sprintf("palace %s is held by this process (PID %d), ", p, os.Getpid())
	if got := held.Error(); !strings.HasPrefix(got, start) || !strings.Contains(got, os.Args[0]) {
		t.Errorf("%q does not start with %q or lacks the command", got, start)
	}
}

func TestEverySpellingsKeyIsTakenOrNone(t *testing.T) {
	t.Parallel()
	h := home(t)
	p, other, third := palaceIn(t, h), filepath.Join(h, "mnt", "palace"), "00000000000000aa"
	target := Target{Path: p, Spellings: []string{other, p + "/.", p}, Keys: []string{third, Key(other)}}
	want := []string{third, Key(p), Key(other)}
	slices.Sort(want)

	l, err := Take(t.Context(), target, TakeOptions{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.Keys(), want) || l.Palace() != p {
		t.Errorf("%s with keys %v, want %v", l.Palace(), l.Keys(), want)
	}
	refused(t, t.Context(), h, p)
	refused(t, t.Context(), h, other)
	for _, key := range want {
		if got := string(body(t, File(Directory(h), key))); got != "\x00"+wantBody() {
			t.Errorf("%s has %q", key, got)
		}
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}

	// Whichever of them is held, the others are free afterwards and unsigned.
	for _, key := range want {
		text := "\x001 earlier"
		for _, k := range want {
			write(t, File(Directory(h), k), text)
		}
		block, err := grab(File(Directory(h), key))
		if err != nil {
			t.Fatal(err)
		}
		var held *HeldError
		if l, err := Take(t.Context(), target, TakeOptions{Home: h}); !errors.As(err, &held) || held.Key != key || held.Palace != p {
			t.Errorf("with %s held: %v, %v", key, l, err)
		}
		for _, k := range want {
			if got := string(body(t, File(Directory(h), k))); got != text {
				t.Errorf("%s was signed: %q", k, got)
			}
			if k == key {
				continue
			}
			if f, err := grab(File(Directory(h), k)); err != nil {
				t.Errorf("%s was kept: %v", k, err)
			} else if err := f.drop(); err != nil {
				t.Error(err)
			}
		}
		if err := block.drop(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestATargetThatNamesNothingIsNotTaken(t *testing.T) {
	t.Parallel()
	h := home(t)
	for _, target := range []Target{
		{}, {Spellings: []string{""}}, {Path: "/p", Keys: []string{"no key"}},
		{Keys: []string{"../../../../etc/pas"}}, {Keys: []string{"ABCDEF0123456789"}},
	} {
		if l, err := Take(t.Context(), target, TakeOptions{Home: h}); err == nil {
			t.Errorf("%+v was taken with keys %v", target, l.Keys())
		}
	}
	entries, err := os.ReadDir(Directory(h))
	if err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestDoGivesThePalaceBackHoweverItEnds(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	do := func(fn func(context.Context) error) error {
		return Do(context.Background(), Target{Path: p}, TakeOptions{Home: h}, func(ctx context.Context) error {
			refused(t, context.Background(), h, p)
			return fn(ctx)
		})
	}
	if err := do(func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
	free(t, h, p)

	if err := do(func(context.Context) error { return fs.ErrClosed }); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	free(t, h, p)

	func() {
		defer func() {
			if r := recover(); r != "backend" {
				t.Errorf("recovered %v", r)
			}
		}()
		do(func(context.Context) error { panic("backend") })
	}()
	free(t, h, p)

	done := make(chan struct{})
	go func() {
		defer close(done)
		do(func(context.Context) error { runtime.Goexit(); return nil })
	}()
	<-done
	free(t, h, p)

	// Deep inside, with shares of shares.
	func() {
		defer func() { recover() }()
		do(func(ctx context.Context) error {
			return Do(ctx, Target{Path: p}, TakeOptions{Home: h}, func(context.Context) error { panic("deep") })
		})
	}()
	free(t, h, p)
}

func TestAnEndedContextTakesNothing(t *testing.T) {
	t.Parallel()
	h := home(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Take(ctx, Target{Path: h}, TakeOptions{Home: h}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := TakeSource(ctx, "a", SourceOptions{Home: h}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	entries, err := os.ReadDir(Directory(h))
	if err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestALockFileThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	path := File(Directory(h), Key(p))
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	var lock *LockError
	if _, err := Take(t.Context(), Target{Path: p}, TakeOptions{Home: h}); !errors.As(err, &lock) || lock.Path != path || !strings.Contains(err.Error(), p) {
		t.Errorf("a directory: %v", err)
	}
	flat := realpath(t.TempDir())
	write(t, filepath.Join(flat, ".mempalace"), "a file")
	if _, err := Take(t.Context(), Target{Path: p}, TakeOptions{Home: flat}); !errors.As(err, &lock) {
		t.Errorf("no directory to be had: %v", err)
	}
	if got := string(body(t, filepath.Join(flat, ".mempalace"))); got != "a file" {
		t.Errorf("the file in the way has become %q", got)
	}
}
