package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"castellan/palace/durable"

	"github.com/gofrs/flock"
)

// Options of a queue; the zero value is good.
type Options struct {
	// Now is the clock; default: time.Now.
	Now func() time.Time
	// MaxEntry bounds the bytes of one entry, MaxBytes those of all, and
	// MaxEntries their number. Defaults: 64 MiB, 1 GiB, 10,000.
	MaxEntry, MaxBytes int64
	MaxEntries         int
}

// Queue keeps the writes that wait for one palace. Its methods may be called
// from several goroutines and processes. It holds nothing open between them.
type Queue struct {
	dir string
	key string
	o   Options
	// at is told of each step that a crash can come before; tests crash there.
	at func(step string)
	// through stands before the disk; tests fill it up.
	through func(io.Writer) io.Writer
}

const (
	pendingDir = "pending"
	queueLock  = "queue.lock" // around every change of the directory
	drainLock  = "drain.lock" // around applying, dropping and trying again
)

var keyName = regexp.MustCompile(`^[0-9a-f]{16}$`)

// Open gives the queue of the palace with this lock key (castellan/locks.Key)
// below Castellan's directory of state. It touches no file. A palace that has
// several keys has its queue under the key of its resolved path.
func Open(stateDir, lockKey string, o Options) (*Queue, error) {
	if !filepath.IsAbs(stateDir) {
		return nil, fmt.Errorf("a queue needs an absolute directory of state, not %q", stateDir)
	}
	if !keyName.MatchString(lockKey) {
		return nil, fmt.Errorf("%q is no lock key: 16 lower-case hexadecimal digits were expected", lockKey)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxEntry <= 0 {
		o.MaxEntry = 64 << 20
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 30
	}
	if o.MaxEntries <= 0 {
		o.MaxEntries = 10_000
	}
	return &Queue{dir: filepath.Join(stateDir, pendingDir, lockKey), key: lockKey, o: o, at: func(string) {}, through: func(w io.Writer) io.Writer { return w }}, nil
}

// All gives the queues there are, by key, with entries or without.
func All(stateDir string, o Options) ([]*Queue, error) {
	dir := filepath.Join(stateDir, pendingDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &StoreError{Path: dir, Err: err}
	}
	var list []*Queue
	for _, e := range entries {
		if !e.IsDir() || !keyName.MatchString(e.Name()) {
			continue
		}
		q, err := Open(stateDir, e.Name(), o)
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, nil
}

// Key is the lock key that the queue is kept under.
func (q *Queue) Key() string { return q.key }

// Dir is where the entries are.
func (q *Queue) Dir() string { return q.dir }

func (q *Queue) path(name string) string { return filepath.Join(q.dir, name) }

func (q *Queue) broken(err error) error {
	if err == nil {
		return nil
	}
	return &StoreError{Path: q.dir, Err: err}
}

// slots lists the entries in their order; none when there is no queue yet.
func (q *Queue) slots() ([]slot, error) {
	entries, err := os.ReadDir(q.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, q.broken(err)
	}
	var list []slot
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), entrySuffix)
		if !ok {
			continue
		}
		s, ok := parseSlot(name)
		if !ok {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // applied meanwhile
		}
		if err != nil {
			return nil, q.broken(err)
		}
		s.bytes, s.regular = info.Size(), info.Mode().IsRegular()
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b slot) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// locked runs fn while nobody else changes the queue. The directory is made
// when missing, and what a killed program left half written is tidied away.
func (q *Queue) locked(ctx context.Context, fn func() error) (err error) {
	if err := durable.MakeDirs(q.dir, func() { q.at("mkdir") }); err != nil {
		return q.broken(err)
	}
	l := flock.New(q.path(queueLock), flock.SetPermissions(0o600))
	if ok, err := l.TryLockContext(ctx, 2*time.Millisecond); err != nil || !ok {
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for %s: %w", q.path(queueLock), err)
		}
		return q.broken(err)
	}
	defer func() {
		if unlocking := l.Close(); err == nil {
			err = q.broken(unlocking)
		}
	}()
	if err := q.tidy(); err != nil {
		return q.broken(err)
	}
	return fn()
}

// draining runs fn while nobody else applies, drops or tries again.
func (q *Queue) draining(fn func() error) (err error) {
	if err := durable.MakeDirs(q.dir, func() { q.at("mkdir") }); err != nil {
		return q.broken(err)
	}
	l := flock.New(q.path(drainLock), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil {
		return q.broken(err)
	}
	if !ok {
		return fmt.Errorf("%s: %w", q.dir, ErrDraining)
	}
	defer func() {
		if unlocking := l.Close(); err == nil {
			err = q.broken(unlocking)
		}
	}()
	return fn()
}

// tidy removes what killed programs left: files that never got their name, and
// what was known of entries that are gone. It is called with the queue locked,
// so nobody is at work on them.
func (q *Queue) tidy() error {
	entries, err := os.ReadDir(q.dir)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Name()] = true
	}
	for _, e := range entries {
		name, isState := strings.CutSuffix(e.Name(), stateSuffix)
		if !strings.HasPrefix(e.Name(), tempPrefix) && (!isState || there[name+entrySuffix]) {
			continue
		}
		if err := os.Remove(q.path(e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// place puts a file under its name, whole and durably, or not at all. When only
// the last sync fails it is there, and may be gone after a power cut.
func (q *Queue) place(name string, parts ...[]byte) error {
	temp := q.path(tempPrefix + rand.Text())
	q.at("open")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := q.fill(f, parts); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	q.at("rename")
	if err := os.Rename(temp, q.path(name)); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	q.at("sync directory")
	return durable.SyncDir(q.dir)
}

// fill writes a file to the disk and closes it.
func (q *Queue) fill(f *os.File, parts [][]byte) (err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, b := range parts {
		q.at("write")
		if _, err := q.through(f).Write(b); err != nil {
			return err
		}
	}
	q.at("sync")
	return f.Sync()
}

// take removes an entry, durably, before anything after it is applied: one that
// a power cut brought back would be applied once more, over later ones.
func (q *Queue) take(name string) error {
	q.at("remove")
	if err := os.Remove(q.path(name + entrySuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	q.at("sync removal")
	if err := durable.SyncDir(q.dir); err != nil {
		return err
	}
	q.at("remove state")
	if err := os.Remove(q.path(name + stateSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
