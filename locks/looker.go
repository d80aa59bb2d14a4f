package locks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// looker finds out who holds a lock.
type looker struct {
	o *Observer
}

// newLooker makes an observer that never stays for a second processor sample:
// a refusal comes at once.
func newLooker(home string) looker {
	return looker{NewObserver(Options{Home: home, SampleInterval: -1})}
}

// found is the answer of a looker.
type found struct {
	Holder
	free bool // the operating system shows that nobody has the lock any more
	self bool // it is this process
}

func (k looker) holder(ctx context.Context, path, key string) (found, error) {
	l := list(k.o.Directory())
	l.palaces, l.wants = ofKeys(l.palaces, map[string]bool{key: true}), nil
	seen, err := k.o.look(ctx, nil, l, nil)
	if err != nil {
		return found{}, fmt.Errorf("finding out who holds %s: %w", filepath.Base(path), err)
	}
	state := StateUnknown
	for _, lock := range seen.PalaceLocks {
		if lock.Key != key || lock.Unlinked {
			continue
		}
		if lock.State == Held {
			h := *lock.Holder
			if h.Command == "" { // a process that is ending has no arguments any more
				if id, _ := readText(path); id.pid == h.PID {
					h.Command = id.text
				}
			}
			return found{Holder: h, self: h.PID == os.Getpid() && h.Identity == Known}, nil
		}
		state = lock.State
	}
	f := found{free: state == Free}
	f.Holder, f.self = k.recorded(path, runtime.GOOS == "linux" && state == StateUnknown)
	return f, nil
}

// recorded believes the lock file's text where the tables show nobody, as far
// as nothing speaks against it. outside: the holder may be in another PID
// namespace, where our own pid means another process (two containers each have
// a pid 1); a lock of ours would have shown.
func (k looker) recorded(path string, outside bool) (h Holder, self bool) {
	id, modified := readText(path)
	if id.pid == 0 {
		return Holder{Identity: Unknown}, false
	}
	p, alive := k.o.process(id.pid)
	own := id.pid == os.Getpid()
	switch {
	case outside && (own || !alive):
		return Holder{Process: Process{PID: id.pid, Command: id.text}, Identity: Recorded, Since: modified}, false
	case alive && p.wrote(modified):
		if p.Command == "" {
			p.Command = id.text
		}
		return Holder{Process: p, Identity: Recorded, Since: modified}, own
	}
	return Holder{Identity: Unknown}, false
}

// readText reads what stands behind the sentinel. On Windows a holder locks
// the sentinel against reading, and a read that touches it fails whole.
func readText(path string) (identity, time.Time) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return identity{}, time.Time{}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return identity{}, time.Time{}
	}
	body := make([]byte, sentinel+maxBody)
	n, _ := f.ReadAt(body[sentinel:], sentinel) // a short read is the end of the file
	return parseIdentity(body[:sentinel+n]), info.ModTime()
}
