package specimen

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// The files of a vector segment.
const (
	headerFile = "header.bin"
	level0File = "data_level0.bin"
	lengthFile = "length.bin"
	linksFile  = "link_lists.bin"
	pickleFile = "index_metadata.pickle"
)

// firstSlots is the number of elements that Chroma makes room for, in memory
// and on disk, before it has any.
const firstSlots = 100

// indexWriter writes the five files of a segment, element by element, without
// holding the vectors.
type indexWriter struct {
	dir    string
	head   header
	total  int
	ids    []string // by label less one
	level0 fileWriter
	length fileWriter
	links  fileWriter
	buf    []byte
}

// fileWriter is a buffered file that is made new.
type fileWriter struct {
	*bufio.Writer
	f *os.File
}

func createFile(name string) (fileWriter, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fileWriter{}, err
	}
	return fileWriter{bufio.NewWriterSize(f, 1<<20), f}, nil
}

func (w fileWriter) Close() error {
	if w.f == nil {
		return nil
	}
	return errors.Join(w.Flush(), w.f.Close())
}

// newIndexWriter makes the segment directory dir for an index of n elements.
// With n zero the files are those of a collection that has been written to but
// never flushed.
func newIndexWriter(dir string, n, dimension int) (*indexWriter, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	w := &indexWriter{dir: dir, head: newHeader(n, dimension), total: n}
	w.buf = make([]byte, w.head.ElementSize)
	for name, f := range map[string]*fileWriter{level0File: &w.level0, lengthFile: &w.length, linksFile: &w.links} {
		var err error
		if *f, err = createFile(filepath.Join(dir, name)); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	return w, nil
}

// add appends an element; its label is one more than the one before.
func (w *indexWriter) add(id string, vector []float32) error {
	i := len(w.ids)
	if i >= w.total {
		return fmt.Errorf("element %d of an index of %d", i, w.total)
	}
	w.ids = append(w.ids, id)
	clear(w.buf)
	near := neighbours(i, 0, w.total)
	binary.LittleEndian.PutUint16(w.buf, uint16(len(near)))
	for k, j := range near {
		binary.LittleEndian.PutUint32(w.buf[4+4*k:], j)
	}
	length := norm(vector)
	for k, x := range vector {
		unit := x * (1 / (length + 1e-30))
		binary.LittleEndian.PutUint32(w.buf[int(w.head.DataOffset)+4*k:], math.Float32bits(unit))
	}
	binary.LittleEndian.PutUint64(w.buf[w.head.LabelOffset:], uint64(len(w.ids)))
	// A bufio.Writer keeps its first error and gives it back when it is closed.
	_, _ = w.level0.Write(w.buf)
	_, _ = w.length.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(length)))
	_, _ = w.links.Write(appendLinks(nil, i, w.total))
	return nil
}

// appendLinks appends element i's lists of the levels above 0, each of maxM
// slots.
func appendLinks(b []byte, i, n int) []byte {
	const block = 4 + 4*maxM
	level := levelOf(i, n)
	b = binary.LittleEndian.AppendUint32(b, uint32(level*block))
	for l := 1; l <= level; l++ {
		near := neighbours(i, l, n)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(near)))
		for k := range maxM {
			j := uint32(0)
			if k < len(near) {
				j = near[k]
			}
			b = binary.LittleEndian.AppendUint32(b, j)
		}
	}
	return b
}

// finish writes what is left: unused slots, the header, and, when there are
// elements, the pickle.
func (w *indexWriter) finish() error {
	clear(w.buf)
	for range firstSlots - w.total {
		_, _ = w.level0.Write(w.buf)
		_, _ = w.length.Write(make([]byte, 4))
	}
	if err := w.close(); err != nil {
		return err
	}
	if len(w.ids) != w.total {
		return fmt.Errorf("%d elements written of %d", len(w.ids), w.total)
	}
	if err := os.WriteFile(filepath.Join(w.dir, headerFile), w.head.bytes(), 0o600); err != nil {
		return err
	}
	if w.total == 0 {
		return nil
	}
	labels := make([]uint64, w.total)
	for i := range labels {
		labels[i] = uint64(i + 1)
	}
	return writePickle(w.dir, pickle{total: uint64(w.total), ids: w.ids, labels: labels})
}

// close closes the files, whatever they hold. It may be called twice.
func (w *indexWriter) close() error {
	err := errors.Join(w.level0.Close(), w.length.Close(), w.links.Close())
	w.level0, w.length, w.links = fileWriter{}, fileWriter{}, fileWriter{}
	return err
}
