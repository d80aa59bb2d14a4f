package specimen

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Entry is what one path of a tree was when it was hashed.
type Entry struct {
	Mode    fs.FileMode
	Size    int64 // bytes; 0 for anything but a regular file
	ModTime time.Time
	// Sum is the SHA-256, in hex, of a file's bytes or of a link's target. It
	// is empty for directories, FIFOs and the like, which are not opened. Of
	// a file of sparseFrom bytes or more it covers the non-zero blocks and
	// where they lie, so that a sparse file of 20 GB costs what it holds.
	Sum string
}

// Tree is a directory with all that is under it, by slash-separated path;
// "." is the directory itself, whose time changes when a name comes or goes.
type Tree map[string]Entry

// sparseFrom is the size from which holes are skipped rather than read.
const sparseFrom = 1 << 30

// HashTree records dir, so that a test can prove that looking at a palace
// changed nothing: hash, look, hash again, Diff.
//
// It opens and closes every file. While this very process has a SQLite
// connection to one of them, that would drop the connection's POSIX locks:
// hash before opening and after closing.
func HashTree(dir string) (Tree, error) {
	t := Tree{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := Entry{Mode: info.Mode(), ModTime: info.ModTime()}
		switch {
		case info.Mode().IsRegular():
			e.Size = info.Size()
			e.Sum, err = hashFile(p, info.Size())
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(p)
			sum := sha256.Sum256([]byte(target))
			e.Sum = hex.EncodeToString(sum[:])
		}
		t[filepath.ToSlash(rel)] = e
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("hash %s: %w", dir, err)
	}
	return t, nil
}

// Diff tells what became of before, one line a path, sorted by path; nothing
// when nothing changed.
func Diff(before, after Tree) []string {
	var lines []string
	for p, b := range before {
		a, ok := after[p]
		if !ok {
			lines = append(lines, p+": gone")
			continue
		}
		if b.Mode != a.Mode {
			lines = append(lines, fmt.Sprintf("%s: mode %v, was %v", p, a.Mode, b.Mode))
		}
		if b.Size != a.Size {
			lines = append(lines, fmt.Sprintf("%s: %d bytes, was %d", p, a.Size, b.Size))
		} else if b.Sum != a.Sum {
			lines = append(lines, p+": other bytes, same size")
		}
		if !b.ModTime.Equal(a.ModTime) {
			lines = append(lines, fmt.Sprintf("%s: modified %s, was %s", p,
				a.ModTime.Format(time.RFC3339Nano), b.ModTime.Format(time.RFC3339Nano)))
		}
	}
	for p := range after {
		if _, ok := before[p]; !ok {
			lines = append(lines, p+": new")
		}
	}
	slices.Sort(lines)
	return lines
}

func hashFile(name string, size int64) (sum string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if size < sparseFrom {
		_, err = io.Copy(h, f)
	} else {
		err = hashBlocks(h, f, size)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// hashBlocks feeds w every block that is not all zero, led by its offset. The
// same bytes give the same sum however the file system stores them.
func hashBlocks(w io.Writer, f *os.File, size int64) error {
	const block = 64 << 10
	buf, zero := make([]byte, block), make([]byte, block)
	for off := int64(0); off < size; off += block {
		data, err := nextData(f, off)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		off = max(off, data-data%block)
		n, err := f.ReadAt(buf, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if slices.Equal(buf[:n], zero[:n]) {
			continue
		}
		var at [8]byte
		binary.LittleEndian.PutUint64(at[:], uint64(off))
		if _, err := w.Write(at[:]); err != nil {
			return err
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
	}
	return nil
}
