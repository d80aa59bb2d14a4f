package repair

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"castellan/palace/durable"
)

const block = 64 << 10

var zeros [block]byte

// eachBlock hands out the blocks of a file that are not all zeros, with their
// offset. fn must not keep them.
func eachBlock(ctx context.Context, path string, fn func(at int64, b []byte) error) (size int64, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	// A pipe would wait for its other end.
	if !info.Mode().IsRegular() {
		return 0, &fs.PathError{Op: "copy", Path: path, Err: fmt.Errorf("mode %s: not a regular file", info.Mode())}
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	size = info.Size()
	b := make([]byte, block)
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return size, err
		}
		if next := nextData(f, at, size); next > at {
			at = next / block * block
			if next >= size {
				break
			}
		}
		n, err := f.ReadAt(b[:min(block, size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return size, err
		}
		if n == 0 {
			return size, fmt.Errorf("%s: it became shorter while it was read", path)
		}
		if !bytes.Equal(b[:n], zeros[:n]) {
			if err := fn(at, b[:n]); err != nil {
				return size, err
			}
		}
		at += int64(n)
	}
	return size, nil
}

// digest is a checksum of a file's blocks that are not all zeros, where they
// lie, and its length: the same for a sparse file and for one that is not.
func digest(ctx context.Context, path string) (hash string, err error) {
	h := sha256.New()
	size, err := eachBlock(ctx, path, func(at int64, b []byte) error {
		if err := binary.Write(h, binary.LittleEndian, at); err != nil {
			return err
		}
		_, err := h.Write(b)
		return err
	})
	return fmt.Sprintf("%d-%s", size, hex.EncodeToString(h.Sum(nil))), err
}

// copyFile makes a file of its own, sparse where the original is, on the disk
// when it returns, with the checksum of what was read.
func copyFile(ctx context.Context, from, to string) (hash string, err error) {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	size, err := eachBlock(ctx, from, func(at int64, b []byte) error {
		if err := binary.Write(h, binary.LittleEndian, at); err != nil {
			return err
		}
		h.Write(b)
		_, err := out.WriteAt(b, at)
		return err
	})
	if err == nil {
		err = out.Truncate(size)
	}
	if err == nil {
		err = out.Sync()
	}
	return fmt.Sprintf("%d-%s", size, hex.EncodeToString(h.Sum(nil))), errors.Join(err, out.Close())
}

// copyDir copies the files of a directory of index files into a new one.
func copyDir(ctx context.Context, from, to string) (map[string]string, error) {
	list, err := os.ReadDir(from)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return nil, err
	}
	hashes := map[string]string{}
	for _, e := range list {
		if !e.Type().IsRegular() {
			continue // Chroma makes nothing else there
		}
		if hashes[e.Name()], err = copyFile(ctx, filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return nil, err
		}
	}
	return hashes, durable.SyncDir(to)
}

// allocated is what directories take on the disk.
func allocated(dirs []string) (total int64) {
	for _, dir := range dirs {
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range list {
			if info, err := e.Info(); err == nil && e.Type().IsRegular() {
				total += onDisk(info)
			}
		}
	}
	return total
}
