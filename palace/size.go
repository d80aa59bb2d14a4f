package palace

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

// Size is the sum over files, in bytes. The two differ by orders of magnitude
// for sparse files: a link list of 400 GB may occupy a few megabytes
// (MemPalace #344).
type Size struct {
	Apparent, Allocated int64
	// Files counts what was added up.
	Files int
}

func (s *Size) add(o Size) {
	s.Apparent += o.Apparent
	s.Allocated += o.Allocated
	s.Files += o.Files
}

// maxWalk bounds how many directory entries one look goes through. A palace
// has some ten files, and five more for each segment.
const maxWalk = 50_000

// walker adds up files and keeps to one budget over several directories.
type walker struct {
	ctx  context.Context
	left int
	// cut reports that something was left out: the budget, the context, or
	// a directory that may not be read.
	cut bool
}

func newWalker(ctx context.Context) *walker { return &walker{ctx: ctx, left: maxWalk} }

// measure adds up everything at or under path without following links and
// without entering another file system.
func (w *walker) measure(path string) Size {
	info, err := os.Lstat(path)
	if err != nil {
		w.cut = w.cut || !os.IsNotExist(err)
		return Size{}
	}
	if !info.IsDir() {
		return sizeOf(info)
	}
	total := sizeOf(info)
	id, _ := fileID(path, info)
	w.walk(path, id.Dev, &total)
	return total
}

func (w *walker) walk(dir string, dev uint64, total *Size) {
	f, err := os.OpenFile(dir, os.O_RDONLY|openNonBlocking, 0)
	if err != nil {
		w.cut = w.cut || !os.IsNotExist(err)
		return
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(256)
		for _, e := range entries {
			if w.left--; w.left < 0 || w.ctx.Err() != nil {
				w.cut = true
				return
			}
			info, err := e.Info()
			if err != nil {
				// Files come and go while a writer is at work.
				w.cut = w.cut || !os.IsNotExist(err)
				continue
			}
			p := filepath.Join(dir, e.Name())
			if !info.IsDir() {
				total.add(sizeOf(info))
				continue
			}
			if id, err := fileID(p, info); err == nil && id.Dev != dev {
				continue
			}
			total.add(sizeOf(info))
			w.walk(p, dev, total)
		}
		if err != nil {
			w.cut = w.cut || err != io.EOF
			return
		}
	}
}

// sizeOf counts a regular file with its length and a directory with what it
// occupies; links, FIFOs and the like count nothing.
func sizeOf(info os.FileInfo) Size {
	switch {
	case info.Mode().IsRegular():
		return Size{Apparent: info.Size(), Allocated: allocated(info), Files: 1}
	case info.IsDir():
		return Size{Allocated: allocated(info)}
	}
	return Size{}
}

// filesIn gives the sizes of what lies directly in a segment directory. Real
// ones hold five files.
func (w *walker) filesIn(dir string) map[string]Size {
	files := map[string]Size{}
	for _, name := range listSome(w.ctx, dir, 64) {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			files[name] = sizeOf(info)
		}
	}
	return files
}
