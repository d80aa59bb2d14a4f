package palace

import (
	"os"
	"path/filepath"
	"slices"

	"castellan/locks"
	"castellan/palace/backend"
)

// locate makes a Ref for an absolute path without opening anything. Real and
// ID stay empty when the path cannot be followed.
func locate(path string) backend.Ref {
	ref := backend.Ref{Path: path, Kind: backend.Unknown}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		ref.Real = real
	}
	if id, err := identify(path); err == nil {
		ref.ID = id
	}
	return ref
}

// identify follows path and reads device and inode of what it leads to.
func identify(path string) (backend.FileID, error) {
	info, err := os.Stat(path)
	if err != nil {
		return backend.FileID{}, err
	}
	return fileID(path, info)
}

// LockPaths are all spellings under which a lock of this palace may be keyed:
// MemPalace hashes the resolved path, and a bind mount or a link made later
// gives one palace several of those. The first is the one MemPalace would use
// for ref.Path.
func LockPaths(ref backend.Ref, aliases []string) []string {
	if ref.Kind == backend.ChromaHTTP {
		return nil // its server serialises; there is no palace lock to look for
	}
	var list []string
	add := func(p string) {
		if p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	for _, p := range append([]string{ref.Path}, aliases...) {
		add(locks.Resolve(p, ""))
		add(p)
	}
	// A link that was turned elsewhere leads away from what is open.
	add(ref.Real)
	return list
}
