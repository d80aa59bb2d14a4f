package dbfile

import "io/fs"

// Stamp is the outer state of a database: comparable, and taken by stat alone, so that a refresh of an unchanged
// palace costs no read. Two stamps that differ mean that something was written; two that are equal mean that nothing
// was, except for changes that fall into one tick of the file system's clock and leave every size alone.
// -shm is left out: it changes through a memory mapping, which need not show in its times.
type Stamp struct{ DB, WAL, Journal Part }

// Part is one file of a [Stamp]; the zero value stands for a file that is not there.
type Part struct {
	ID       FileID
	Size     int64 // bytes
	Modified int64 // nanoseconds since 1970
}

// StampOf follows links and stats the database with its sidecars. The error is a [*FileError].
func StampOf(path string) (Stamp, error) {
	p, err := locate(path)
	if err != nil {
		return Stamp{}, err
	}
	parts, err := beside(p.real)
	if err != nil {
		return Stamp{}, err
	}
	return stampOf(p, parts)
}

func stampOf(p place, parts sidecars) (Stamp, error) {
	s := Stamp{DB: Part{ID: p.id, Size: p.info.Size(), Modified: p.info.ModTime().UnixNano()}}
	for _, side := range []struct {
		suffix string
		info   fs.FileInfo
		part   *Part
	}{{"-wal", parts.wal, &s.WAL}, {"-journal", parts.journal, &s.Journal}} {
		if side.info == nil {
			continue
		}
		id, err := idOfPath(p.real+side.suffix, side.info)
		if err != nil {
			return Stamp{}, classify(p.real+side.suffix, err)
		}
		*side.part = Part{ID: id, Size: side.info.Size(), Modified: side.info.ModTime().UnixNano()}
	}
	return s, nil
}
