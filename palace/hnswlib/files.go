package hnswlib

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// FileFacts is what the file system says of a file without opening it.
type FileFacts struct {
	Present bool
	Regular bool
	Mode    fs.FileMode
	// Apparent is the length. Allocated is what it takes on the disk: far less
	// for the sparse link_lists.bin of the explosion (MemPalace #525: 2.8 TB
	// apparent), and Apparent where the system does not tell.
	Apparent, Allocated int64
	ModTime             time.Time
}

// Files are the facts of a segment directory. None of the files needs to exist.
type Files struct {
	Dir                                   string
	Header, Level0, Length, Links, Pickle FileFacts
}

// Stat looks at sizes only; it opens nothing. A directory that is not there is
// a *MissingError, one that cannot be searched the system's error.
func Stat(dir string) (Files, error) {
	f := Files{Dir: dir}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, &MissingError{Dir: dir}
	case err != nil:
		return f, fmt.Errorf("segment directory: %w", err)
	case !info.IsDir():
		return f, &NotRegularError{Dir: dir, File: "the segment directory", Mode: info.Mode()}
	}
	for _, one := range f.each() {
		info, err := os.Stat(filepath.Join(dir, one.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return f, fmt.Errorf("segment file: %w", err)
		}
		*one.facts = factsOf(info)
	}
	return f, nil
}

func factsOf(info fs.FileInfo) FileFacts {
	return FileFacts{
		Present: true, Regular: info.Mode().IsRegular(), Mode: info.Mode(),
		Apparent: info.Size(), Allocated: allocated(info), ModTime: info.ModTime(),
	}
}

type namedFacts struct {
	name  string
	facts *FileFacts
}

func (f *Files) each() [5]namedFacts {
	return [5]namedFacts{
		{HeaderFile, &f.Header}, {Level0File, &f.Level0}, {LengthFile, &f.Length},
		{LinksFile, &f.Links}, {PickleFile, &f.Pickle},
	}
}

// Apparent is the length of all files together.
func (f Files) Apparent() int64 {
	return f.Header.Apparent + f.Level0.Apparent + f.Length.Apparent + f.Links.Apparent + f.Pickle.Apparent
}

// Allocated is what all files together take on the disk.
func (f Files) Allocated() int64 {
	return f.Header.Allocated + f.Level0.Allocated + f.Length.Allocated + f.Links.Allocated + f.Pickle.Allocated
}

// BloatRatio is the LinkRatio from which link_lists.bin is out of proportion. A
// sound one is some hundredths of data_level0.bin.
const BloatRatio = 10

// LinkRatio is the length of link_lists.bin over that of data_level0.bin, 0
// without the latter.
func (f Files) LinkRatio() float64 {
	if f.Level0.Apparent <= 0 {
		return 0
	}
	return float64(f.Links.Apparent) / float64(f.Level0.Apparent)
}

// Newest is the time of the last change of any of the files.
func (f Files) Newest() time.Time {
	var t time.Time
	for _, one := range f.each() {
		if one.facts.ModTime.After(t) {
			t = one.facts.ModTime
		}
	}
	return t
}
