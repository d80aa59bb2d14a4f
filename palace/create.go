package palace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"castellan/locks"
	"castellan/palace/backend"
)

// maker makes an empty palace in a directory.
type maker func(ctx context.Context, dir string) error

// OccupiedError says that no palace can be made at a path because something is
// there already.
type OccupiedError struct {
	Path string
	// Site is what is there.
	Site Site
}

func (e *OccupiedError) Error() string {
	return fmt.Sprintf("no palace can be made at %s: %s; choose another directory", e.Path, e.Site.Explain())
}

// Unwrap is what is wrong with what is there, if anything.
func (e *OccupiedError) Unwrap() error { return e.Site.Err }

// Create makes a new palace, without collections, and opens it. The directory
// is made when missing (0700) and must not hold a palace or a part of one. The
// palace lock is held meanwhile, so that MemPalace does not make one there too;
// that the write routing forbids direct writes is a *RoutingError.
func (m *Manager) Create(ctx context.Context, path string, kind backend.Kind) (*Palace, error) {
	path = m.around.absolute(path)
	mk := m.makers[kind]
	if mk == nil {
		return nil, &NotWritableError{Path: path, Kind: kind}
	}
	if err := m.AllowsWrites(path); err != nil {
		return nil, err
	}
	s := m.look(ctx, path, assess)
	if err := s.vacant(kind); err != nil {
		return nil, err
	}
	o := locks.TakeOptions{Home: m.around.home, Wait: m.writes.wait}
	if tell := m.writes.onWait; tell != nil {
		o.OnWait = func(h locks.Holder) { tell(s.Ref, h) }
	}
	err := locks.Do(ctx, lockTarget(s.futureLockPaths()), o, func(ctx context.Context) error {
		// Somebody else may have made one before the lock was ours.
		s := m.look(ctx, path, assess)
		if err := s.vacant(kind); err != nil {
			return err
		}
		return makePalace(ctx, &s, mk)
	})
	if err != nil {
		return nil, err
	}
	return m.Open(ctx, backend.Ref{Path: path, Kind: kind})
}

// vacant says why no palace can be made here; nil when one can. An empty
// database of sqlite_exact is what an interrupted Create leaves, and goes on
// with.
func (s *Site) vacant(kind backend.Kind) error {
	var missing *NotFoundError
	files := slices.ContainsFunc(s.Artifacts, func(a Artifact) bool { return a.Kind != kind || kind != backend.SQLiteExact })
	switch {
	case s.State == Missing && errors.As(s.Err, &missing):
		return nil
	case s.State == Empty && !files && len(s.Layout.Segments) == 0:
		return nil
	case s.State == OK, s.State == Empty, s.State == Uninitialised, s.Err == nil:
		return &OccupiedError{Path: s.Ref.Path, Site: *s}
	}
	return s.Err
}

// futureLockPaths are the spellings under which the palace will be keyed once
// its directory exists.
func (s *Site) futureLockPaths() []string {
	var missing *NotFoundError
	if !errors.As(s.Err, &missing) {
		return s.LockPaths()
	}
	list := LockPaths(s.Ref, nil)
	real, err := filepath.EvalSymlinks(missing.Nearest)
	rest, err2 := filepath.Rel(missing.Nearest, s.Ref.Path)
	if err != nil || err2 != nil {
		return list
	}
	for _, alias := range bindAliases(real) {
		list = append(list, filepath.Join(alias, rest))
	}
	return list
}

// makePalace makes the directories that are missing and the palace in them.
// Directories that it made go again when that fails.
func makePalace(ctx context.Context, s *Site, mk maker) (err error) {
	var missing *NotFoundError
	if errors.As(s.Err, &missing) {
		done := false
		defer func() {
			for dir := s.Ref.Path; !done && dir != missing.Nearest && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
				if os.Remove(dir) != nil { // not empty, or never made
					break
				}
			}
		}()
		if err := os.MkdirAll(s.Ref.Path, 0o700); err != nil {
			return explain(s.Ref.Path, err)
		}
		if err := mk(ctx, s.Ref.Path); err != nil {
			return err
		}
		done = true
		return nil
	}
	return mk(ctx, s.Ref.Path)
}
