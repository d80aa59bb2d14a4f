//go:build unix

package locks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestARemovedLockFileIsALostLease(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, h, file string){
		"removed":  func(t *testing.T, h, file string) { remove(t, file) },
		"replaced": func(t *testing.T, h, file string) { remove(t, file); write(t, file, "\x001 x") },
		"moved away with its directory": func(t *testing.T, h, file string) {
			if err := os.Rename(filepath.Dir(file), filepath.Join(h, "elsewhere")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := home(t)
			p := palaceIn(t, h)
			l := take(t, h, p)
			file := File(Directory(h), Key(p))
			if err := l.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			lose(t, h, file)
			var lost *LostError
			if err := l.Check(t.Context()); !errors.Is(err, ErrLeaseLost) || !errors.As(err, &lost) || lost.Path != file || lost.Holder != nil {
				t.Errorf("%v", err)
			}
			if _, err := l.Acquire(t.Context()); !errors.Is(err, ErrLeaseLost) {
				t.Errorf("a share of a lost lease: %v", err)
			}
			err := Do(WithLease(t.Context(), l), Target{Path: p}, TakeOptions{Home: h}, func(context.Context) error {
				t.Error("it writes without a lock")
				return nil
			})
			if !errors.Is(err, ErrLeaseLost) {
				t.Errorf("%v", err)
			}
			if err := l.Release(); err != nil {
				t.Errorf("giving back what was lost: %v", err)
			}
			free(t, h, p)
		})
	}
}

// Whoever had the path in between may have written.
func TestALostLeaseStaysLostWhenItsFileComesBack(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	l := take(t, h, p)
	file := File(Directory(h), Key(p))
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	if err := l.Check(t.Context()); !errors.Is(err, ErrLeaseLost) {
		t.Fatal(err)
	}
	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	if err := l.Check(t.Context()); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("%v", err)
	}
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
