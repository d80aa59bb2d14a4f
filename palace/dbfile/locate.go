package dbfile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// place is a database file found by its path. SQLite follows links before it derives the names of the sidecars, so
// they lie beside real, not beside given.
type place struct {
	given, real string
	info        fs.FileInfo
	id          FileID
}

// locate finds path by stat alone: nothing is opened.
func locate(path string) (place, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return place{}, classify(path, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return place{}, classify(path, err)
	}
	if err := regular(path, info); err != nil {
		return place{}, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return place{}, classify(path, err)
	}
	id, err := idOfPath(real, info)
	if err != nil {
		return place{}, classify(path, err)
	}
	return place{given: path, real: real, info: info, id: id}, nil
}

// sidecars are the files SQLite keeps beside a database; nil where there is none.
type sidecars struct{ wal, shm, journal fs.FileInfo }

// beside stats the sidecars of real. One that is not a regular file is an error: SQLite opens a -journal of any
// kind and would wait on a FIFO for ever.
func beside(real string) (sidecars, error) {
	var s sidecars
	for _, part := range []struct {
		suffix string
		info   *fs.FileInfo
	}{{"-wal", &s.wal}, {"-shm", &s.shm}, {"-journal", &s.journal}} {
		name := real + part.suffix
		info, err := os.Lstat(name)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return s, classify(name, err)
		}
		if err := regular(name, info); err != nil {
			return s, err
		}
		*part.info = info
	}
	return s, nil
}

// sizeOf is 0 for a file that is not there: SQLite treats an empty sidecar as none, and so does this package.
func sizeOf(info fs.FileInfo) int64 {
	if info == nil {
		return 0
	}
	return info.Size()
}
