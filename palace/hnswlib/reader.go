package hnswlib

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// windowSize bounds every read of the big files. Reading whole windows and
// picking twelve bytes of each element out of them beats a pread an element
// threefold while an element is smaller than some 6 KiB (1,500 floats).
const windowSize = 1 << 20

// Reader reads one segment. Its methods may be called from several goroutines.
type Reader struct {
	files  Files
	header Header
	dim    int
	stored int // whole elements that data_level0.bin has of those the header counts

	level0, length, links *os.File // length and links are nil if missing
}

// Open opens the segment in dir. It needs header.bin with a sound layout and
// data_level0.bin; whatever else is missing or wrong is for Examine to tell.
// Errors: *MissingError, *NotRegularError, *ShortError, *HeaderError, or the
// system's, naming the file.
func Open(dir string) (_ *Reader, err error) {
	r := &Reader{}
	if r.files, err = Stat(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if err := r.readHeader(); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name  string
		facts *FileFacts
		into  **os.File
		need  bool
	}{
		{Level0File, &r.files.Level0, &r.level0, true},
		{LengthFile, &r.files.Length, &r.length, false},
		{LinksFile, &r.files.Links, &r.links, false},
	} {
		var odd *NotRegularError
		*f.into, err = openFile(dir, f.name, f.facts)
		if err != nil && (f.need || !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &odd)) {
			return nil, err
		}
	}
	r.dim = r.header.Dimension()
	r.stored = int(min(r.header.Elements, uint64(r.files.Level0.Apparent)/r.header.ElementSize))
	return r, nil
}

func (r *Reader) readHeader() error {
	dir := r.files.Dir
	f, err := openFile(dir, HeaderFile, &r.files.Header)
	if err != nil {
		return err
	}
	defer f.Close()
	var b [HeaderSize]byte
	n, err := io.ReadFull(f, b[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("reading header: %w", err)
	}
	r.header, err = ParseHeader(b[:n])
	if err == nil {
		err = r.header.Layout()
	}
	var short *ShortError
	var field *HeaderError
	switch {
	case errors.As(err, &short):
		short.Dir = dir
	case errors.As(err, &field):
		field.Dir = dir
	}
	return err
}

// openFile opens a file and replaces its facts by those of the open file: the
// path may lead elsewhere by now.
func openFile(dir, name string, facts *FileFacts) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		*facts = FileFacts{}
		return nil, &MissingError{Dir: dir, File: name}
	}
	if err != nil {
		return nil, fmt.Errorf("segment file: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("segment file: %w", err)
	}
	*facts = factsOf(info)
	if !facts.Regular {
		f.Close()
		return nil, &NotRegularError{Dir: dir, File: name, Mode: info.Mode()}
	}
	return f, nil
}

// Header returns the header as it was when the segment was opened.
func (r *Reader) Header() Header { return r.header }

// Files returns the facts of the files as they were when they were opened.
func (r *Reader) Files() Files { return r.files }

// Stored is the number of elements that data_level0.bin holds of those the
// header counts: internal indexes run below it.
func (r *Reader) Stored() int { return r.stored }

// Close closes the files. Methods that read fail from then on.
func (r *Reader) Close() error {
	var errs []error
	for _, f := range []*os.File{r.level0, r.length, r.links} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// readAt fills b from a file that had size bytes; Chroma may have cut it since.
func (r *Reader) readAt(f *os.File, name string, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return &ShortError{Dir: r.files.Dir, File: name, Got: at + int64(n), Want: at + int64(len(b))}
	}
	return fmt.Errorf("%s at byte %d: %w", name, at, err)
}

// elements visits the bytes of elements from to to-1, window by window. The
// slice is overwritten by the next window.
func (r *Reader) elements(ctx context.Context, from, to int, visit func(internal int, element []byte) error) error {
	size := int(r.header.ElementSize)
	most := windowSize / size
	buf := make([]byte, min(most, max(to-from, 0))*size)
	for from < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(most, to-from)
		if err := r.readAt(r.level0, Level0File, buf[:n*size], int64(from)*int64(size)); err != nil {
			return err
		}
		for i := range n {
			if err := visit(from+i, buf[i*size:(i+1)*size]); err != nil {
				return err
			}
		}
		from += n
	}
	return nil
}

// shortage is the error of a data_level0.bin that lacks elements, or nil.
func (r *Reader) shortage() error {
	if uint64(r.stored) == r.header.Elements {
		return nil
	}
	return &ShortError{
		Dir: r.files.Dir, File: Level0File,
		Got: r.files.Level0.Apparent, Want: int64(r.header.Elements * r.header.ElementSize),
	}
}
