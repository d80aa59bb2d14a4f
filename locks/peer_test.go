package locks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// long is a wait that no test reaches unless something hangs.
const long = 2 * time.Minute

// peer is a second process that takes locks through this package.
type peer struct {
	Home    string
	Palace  string // "" = Source
	Source  string
	Count   int    // add one to Counter so many times, under the lock each time
	Counter string // a file with a number
	Try     bool   // tell what taking brings, and end
	Exec    bool   // hold the lock, then become a new program that tries
	Full    bool   // lock on a full disk
}

func (p peer) play() error {
	ctx := context.Background()
	switch {
	case p.Full:
		return lockOnFullDisk(p)
	case p.Count > 0:
		fmt.Println("ready 0")
		return p.count(ctx)
	case p.Try:
		l, err := Take(ctx, Target{Path: p.Palace}, TakeOptions{Home: p.Home})
		if err != nil {
			_, err := fmt.Println("refused:", err)
			return err
		}
		err = l.Release()
		fmt.Println("taken by", os.Getpid())
		return err
	}
	release, err := p.take(ctx)
	if err != nil {
		return err
	}
	if p.Exec {
		return becomeTrier(p)
	}
	fmt.Println("ready 0")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return release()
}

func (p peer) take(ctx context.Context) (release func() error, err error) {
	if p.Palace == "" {
		s, err := TakeSource(ctx, p.Source, SourceOptions{Home: p.Home})
		if err != nil {
			return nil, err
		}
		return s.Release, nil
	}
	l, err := Take(ctx, Target{Path: p.Palace}, TakeOptions{Home: p.Home, Wait: long})
	if err != nil {
		return nil, err
	}
	return l.Release, nil
}

func (p peer) count(ctx context.Context) error {
	for range p.Count {
		release, err := p.take(ctx)
		if err != nil {
			return err
		}
		if err := errors.Join(addOne(p.Counter), release()); err != nil {
			return err
		}
	}
	return nil
}

// addOne loses additions when two do it at once.
func addOne(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return fmt.Errorf("the counter was caught half written: %w", err)
	}
	return os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600)
}

// pythonCount does what peer.count does, with the lock calls of MemPalace: the
// palace lock without waiting, tried again; the source lock with its file
// removed under the others' hands.
const pythonCount = `
import fcntl, os, sys, time
kind, path, counter, n = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
print("ready 0", flush=True)

def add():
    with open(counter) as f:
        value = int(f.read())
    with open(counter, "w") as f:
        f.write(str(value + 1))

def current(fd):
    try:
        a, b = os.stat(path), os.fstat(fd)
    except OSError:
        return False
    return (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)

def palace():
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    while True:
        with open(path, "r+b") as lf:
            try:
                fcntl.flock(lf, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.001)
                continue
            ident = f"{os.getpid()} {' '.join(sys.argv[:3])}".encode()
            lf.seek(1)
            lf.truncate(1 + len(ident))
            lf.write(ident)
            lf.flush()
            add()
            return

def source():
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX)
        if current(fd):
            break
        os.close(fd)
    add()
    os.close(fd)
    try:
        fd = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if current(fd):
            os.remove(path)
    except BlockingIOError:
        pass
    os.close(fd)

for _ in range(n):
    palace() if kind == "palace" else source()
`

func wantCount(t testing.TB, path string, want int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(raw); got != strconv.Itoa(want) {
		t.Errorf("%s of %d additions are there: two wrote at once", got, want)
	}
}

// take takes a palace that must be free, and gives it back with the test.
func take(t testing.TB, h, p string) *Lease {
	t.Helper()
	l, err := Take(t.Context(), Target{Path: p}, TakeOptions{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// refused takes a palace that must be held.
func refused(t testing.TB, ctx context.Context, h, p string) *HeldError {
	t.Helper()
	l, err := Take(ctx, Target{Path: p}, TakeOptions{Home: h})
	if err == nil {
		l.Release()
		t.Fatal("taken although it is held")
	}
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("refused with %T %v", err, err)
	}
	return held
}

// free takes a palace for a moment, as a stranger.
func free(t testing.TB, h, p string) {
	t.Helper()
	l, err := Take(context.Background(), Target{Path: p}, TakeOptions{Home: h})
	if err != nil {
		t.Fatalf("not given back: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}
