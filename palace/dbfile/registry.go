package dbfile

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

// open is the one piece of state that belongs to the process and not to a value. The operating system makes it so:
// POSIX record locks belong to (process, inode), so only a table of the whole process can say when a descriptor may be
// closed. The private copies stand beside it, so that two handles on one database that must be copied share the copy.
var open = registry{files: map[FileID]*file{}, copies: map[copyKey]*privateCopy{}}

type registry struct {
	mu     sync.Mutex
	files  map[FileID]*file
	copies map[copyKey]*privateCopy
}

// file is one inode that this process looks at. Its descriptors are closed when, and only when, the last user is
// gone: lookers and databases count alike, so a look that overlaps a connection can never drop the connection's locks.
type file struct {
	id     FileID
	raw    *os.File
	parked []*os.File // opened by a look that lost a race; they wait for the same moment
	index  *os.File   // the -shm, once somebody had to ask who has it open; closed like raw

	// Guarded by registry.mu.
	users   int
	writers int           // see Hold
	viewers int           // views that opened -shm read-only
	drained chan struct{} // closed when viewers falls to zero while a writer waits; nil otherwise

	guards guards
}

// acquire opens the file at p for looking, or joins those who have it open already.
func (r *registry) acquire(p place) (*file, error) {
	r.mu.Lock()
	if f := r.files[p.id]; f != nil {
		f.users++
		r.mu.Unlock()
		return f, nil
	}
	r.mu.Unlock()

	// Opening drops no locks, only closing does, so it needs no mutex: a dead network mount holds up nobody else.
	raw, err := os.OpenFile(p.real, openFlags, 0)
	if err != nil {
		return nil, classify(p.given, err)
	}
	info, err := raw.Stat()
	if err == nil {
		err = regular(p.given, info)
	}
	var id FileID
	if err == nil {
		id, err = idOfFile(raw)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		// Not a regular file, so no database, or one whose inode is unknown: no connection can be ours.
		raw.Close()
		return nil, classify(p.given, err)
	}
	// The file may have been replaced since it was located: the descriptor decides.
	f := r.files[id]
	if f == nil {
		f = &file{id: id, raw: raw}
		r.files[id] = f
	} else {
		f.parked = append(f.parked, raw)
	}
	f.users++
	return f, nil
}

// release gives up one use. Closing happens under the mutex: a newcomer must not lock the inode in between.
func (r *registry) release(f *file) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.users--; f.users > 0 {
		return
	}
	delete(r.files, f.id)
	f.raw.Close()
	if f.index != nil {
		f.index.Close()
	}
	for _, p := range f.parked {
		p.Close()
	}
}

// written reports whether a write transaction may be under way, in another process or in this one.
func (f *file) written() bool { return f.held() || foreignWriter(f.raw) }

func (f *file) held() bool {
	open.mu.Lock()
	defer open.mu.Unlock()
	return f.writers > 0
}

// Hold announces that this process is about to open the database at path by a SQLite connection of its own, to write.
// Until release is called, no look of this package closes a descriptor of the file, which would drop the writer's
// locks, and no view opens the -shm of a WAL database read-only, which would make it read-only for the writer too
// because SQLite shares it within a process. Hold waits for such views to end. Call it before opening the connection
// and release after closing it; calling release twice is harmless.
func Hold(ctx context.Context, path string) (release func(), err error) {
	p, err := locate(path)
	if err != nil {
		return nil, err
	}
	f, err := open.acquire(p)
	if err != nil {
		return nil, err
	}
	open.mu.Lock()
	f.writers++
	if f.viewers > 0 && f.drained == nil {
		f.drained = make(chan struct{})
	}
	drained := f.drained
	open.mu.Unlock()

	var once sync.Once
	release = func() {
		once.Do(func() {
			open.mu.Lock()
			f.writers--
			open.mu.Unlock()
			open.release(f)
		})
	}
	if drained != nil {
		select {
		case <-drained:
		case <-ctx.Done():
			release()
			return nil, fmt.Errorf("waiting for readers of %q in this program: %w", path, ctx.Err())
		}
	}
	return release, nil
}

// viewSHM counts a view that is about to open -shm. It answers false if a writer of this process holds the file:
// then -shm must be opened as the writer opens it.
//
// While a writer still waits for read-only views, a newcomer waits with it: it would join what they have open, and
// keep that read-only under the writer after the last of them has gone. It waits only so long, for one of them may be
// waiting for the newcomer; then it is one more of those the writer waits for.
func (f *file) viewSHM(ctx context.Context) (readonly bool, err error) {
	open.mu.Lock()
	drained := f.drained
	open.mu.Unlock()
	if drained != nil {
		timer := time.NewTimer(busyWait)
		defer timer.Stop()
		select {
		case <-drained:
		case <-timer.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	open.mu.Lock()
	defer open.mu.Unlock()
	if f.writers > 0 && f.viewers == 0 {
		return false, nil
	}
	f.viewers++
	return true, nil
}

func (f *file) leaveSHM() {
	open.mu.Lock()
	defer open.mu.Unlock()
	if f.viewers--; f.viewers == 0 && f.drained != nil {
		close(f.drained)
		f.drained = nil
	}
}
