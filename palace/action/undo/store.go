package undo

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"castellan/palace/durable"
)

// Options of a store; the zero value is good.
type Options struct {
	// Now is the clock; default: time.Now.
	Now func() time.Time
	// MaxEntries and MaxBytes bound what is kept for one palace; the oldest go
	// first, the newest never. Defaults: 20, 1 GiB.
	MaxEntries int
	MaxBytes   int64
}

// Store keeps the entries of one palace. It holds nothing open between calls.
type Store struct {
	dir string
	o   Options
	// at is told of each step that a crash can come before; tests crash there.
	at func(step string)
}

const (
	storeDir   = "undo"
	tempPrefix = ".tmp-"
	oldPrefix  = ".old-"
)

var keyName = regexp.MustCompile(`^[0-9a-f]{16}$`)

// Open gives the store of the palace with this lock key (castellan/locks.Key)
// below Castellan's directory of state. It touches no file.
func Open(stateDir, lockKey string, o Options) (*Store, error) {
	if !filepath.IsAbs(stateDir) {
		return nil, fmt.Errorf("undo records need an absolute directory of state, not %q", stateDir)
	}
	if !keyName.MatchString(lockKey) {
		return nil, fmt.Errorf("%q is no lock key: 16 lower-case hexadecimal digits were expected", lockKey)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxEntries = cmp.Or(o.MaxEntries, 20)
	o.MaxBytes = cmp.Or(o.MaxBytes, 1<<30)
	return &Store{dir: filepath.Join(stateDir, storeDir, lockKey), o: o, at: func(string) {}}, nil
}

// Dir is where the entries are.
func (s *Store) Dir() string { return s.dir }

// Path is the directory of an entry.
func (s *Store) Path(id string) string { return filepath.Join(s.dir, id) }

func (s *Store) broken(err error) error {
	if err == nil {
		return nil
	}
	return &StoreError{Path: s.dir, Err: err}
}

// NewID is the name that the next entry would have: a plan can tell it before
// there is anything. It stays good until another entry is committed.
func (s *Store) NewID() (string, error) {
	ids, err := s.ids()
	if err != nil {
		return "", err
	}
	var last uint64
	if len(ids) > 0 {
		last, _ = number(ids[0])
	}
	return fmt.Sprintf("%06d-%s", last+1, s.o.Now().UTC().Format("20060102-150405")), nil
}

// Stale reports that entries were committed after NewID gave this id, so that
// an entry under it would not be the newest.
func (s *Store) Stale(id string) (bool, error) {
	ids, err := s.ids()
	if err != nil || len(ids) == 0 {
		return false, err
	}
	last, _ := number(ids[0])
	n, ok := number(id)
	return !ok || n <= last, nil
}

// ids lists the entries, the newest first.
func (s *Store) ids() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.broken(err)
	}
	var list []string
	for _, e := range entries {
		if _, ok := number(e.Name()); ok && e.IsDir() {
			list = append(list, e.Name())
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		x, _ := number(a)
		y, _ := number(b)
		return cmp.Or(cmp.Compare(y, x), strings.Compare(b, a))
	})
	return list, nil
}

// List tells what is kept, the newest first. An entry that cannot be read is in
// it with its Problem.
func (s *Store) List() ([]Entry, error) {
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, id := range ids {
		e, err := s.read(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // pruned meanwhile
		}
		if err != nil {
			return nil, s.broken(err)
		}
		list = append(list, e)
	}
	return list, nil
}

// Newest is the newest entry that was not put back, or ErrNothing. One that
// cannot be read is an error: what is older must not be put back in its place.
func (s *Store) Newest() (Entry, error) {
	list, err := s.List()
	if err != nil {
		return Entry{}, err
	}
	for _, e := range list {
		switch {
		case !e.Undone.IsZero():
		case e.Problem != nil:
			return e, e.Problem
		default:
			return e, nil
		}
	}
	return Entry{}, ErrNothing
}

// Entry gives one entry; fs.ErrNotExist when there is none of that name.
func (s *Store) Entry(id string) (Entry, error) {
	if _, ok := number(id); !ok {
		return Entry{}, fmt.Errorf("%q names no undo record: %w", id, fs.ErrNotExist)
	}
	return s.read(id)
}

// Settle notes how far the change got, once it is over.
func (s *Store) Settle(id string, outcome any) error { return s.note(id, outcomeFile, outcome) }

// MarkUndone keeps an entry from being put back, again or at all.
func (s *Store) MarkUndone(id string) error {
	return s.note(id, undoneFile, undoneNote{At: s.o.Now().UTC()})
}

// note adds a file to an entry; one that is there stays as it is.
func (s *Store) note(id, name string, v any) error {
	e, err := s.Entry(id)
	if err != nil {
		return err
	}
	dir := s.Path(e.ID)
	if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	temp := filepath.Join(dir, tempPrefix+rand.Text())
	if err := s.write(temp, raw); err != nil {
		return s.broken(err)
	}
	s.at("rename note")
	if err := os.Rename(temp, filepath.Join(dir, name)); err != nil {
		return s.broken(errors.Join(err, os.Remove(temp)))
	}
	s.at("sync note")
	return s.broken(durable.SyncDir(dir))
}

// write makes a new file, on the disk when it returns.
func (s *Store) write(path string, content []byte) error {
	s.at("write")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		s.at("sync")
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
