package locks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

const (
	firstSourcePause = time.Millisecond
	lastSourcePause  = 50 * time.Millisecond
)

// SourceOptions say where a source is locked. The zero value: the caller's own
// home.
type SourceOptions struct {
	Home string // whose ~/.mempalace; default: HOME (USERPROFILE on Windows)
}

// SourceLease is the right to replace what is filed of one source. It knows no
// shares: whoever takes the same source again waits, also in this process.
type SourceLease struct {
	source string
	mu     sync.Mutex
	file   *openLock // nil = released
}

// SourceFile is the lock file around a source, inside a lock directory.
func SourceFile(directory, source string) string {
	return filepath.Join(directory, SourceKey(source)+lockSuffix)
}

// TakeSource takes MemPalace's mine_lock around a source, which is named
// exactly as the drawers' metadata has it. It waits until ctx ends; then the
// error is the context's. A lock that cannot be used is a *LockError.
//
// The palace lock comes first where both are needed.
func TakeSource(ctx context.Context, source string, opt SourceOptions) (*SourceLease, error) {
	dir, err := filepath.Abs(NewObserver(Options{Home: opt.Home}).Directory())
	if err != nil {
		return nil, fmt.Errorf("source %s: finding the lock directory: %w", clean(source), err)
	}
	path := SourceFile(dir, source)
	for pause := firstSourcePause; ; pause = min(pause*2, lastSourcePause) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("waiting for source %s: %w", clean(source), err)
		}
		// Opened anew each time: the file may have been removed by whoever held it.
		f, err := grab(path)
		if err == nil {
			return &SourceLease{source: source, file: f}, nil
		}
		if !errors.Is(err, errBusy) {
			return nil, &LockError{Subject: "source " + source, Path: path, Err: err}
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("waiting for source %s: %w", clean(source), err)
		}
	}
}

// Release gives the source back and removes the lock file, when nobody else
// wants it: sources come and go, and thousands of files were left behind
// before MemPalace did so (#2200). Further calls do nothing.
func (s *SourceLease) Release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.file
	if f == nil {
		return nil
	}
	s.file = nil
	if err := errors.Join(unlock(f.f), f.remove()); err != nil {
		return fmt.Errorf("giving back source %s: %w", clean(s.source), err)
	}
	return nil
}

// remove ends an unlocked source lock's file as MemPalace 3.7 and later do:
// locked once more without waiting, compared with the path, and only then
// unlinked. Whoever waited on the unlinked file finds it replaced and starts
// anew. A MemPalace before 3.7 does not look, and would work beside whoever
// makes the next file: given back first, the lock often goes to it, and then
// the file stays. Unlinking under the lock itself would be shorter, and would
// never give it that chance.
//
// A file that stays is harmless: that it could not be removed is no error.
func (l *openLock) remove() error {
	if tryLock(l.f) != nil {
		return l.f.Close()
	}
	if current, err := l.current(); err != nil || !current {
		return l.drop()
	}
	if runtime.GOOS == "windows" {
		// A file that is open cannot be removed there, which is what keeps
		// somebody else's from being removed between these two lines.
		err := l.drop()
		_ = os.Remove(l.path)
		return err
	}
	_ = os.Remove(l.path)
	return l.drop()
}
