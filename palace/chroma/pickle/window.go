package pickle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const windowSize = 64 << 10

// window is a forward-only view of the file: a fixed buffer that always knows
// its offset and how many bytes the file has left.
type window struct {
	ctx    context.Context
	r      io.Reader
	buf    []byte
	lo, hi int   // unread bytes are buf[lo:hi]
	base   int64 // file offset of buf[0]
	size   int64 // bytes of the whole file
}

func newWindow(ctx context.Context, r io.Reader, size int64) window {
	return window{
		ctx:  ctx,
		r:    io.LimitReader(r, size), // a file that grows while it is read stays bounded
		buf:  make([]byte, min(size, windowSize)),
		size: size,
	}
}

func (w *window) offset() int64    { return w.base + int64(w.lo) }
func (w *window) remaining() int64 { return w.size - w.offset() }

// fill makes at least n unread bytes available; n is at most windowSize.
func (w *window) fill(n int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if rest := w.remaining(); int64(n) > rest {
		return &TruncatedError{Offset: w.size, Need: int64(n) - rest}
	}
	w.base += int64(w.lo)
	w.hi = copy(w.buf, w.buf[w.lo:w.hi])
	w.lo = 0
	got, err := io.ReadAtLeast(w.r, w.buf[w.hi:], n-w.hi)
	w.hi += got
	return w.readError(err)
}

// readError tells a file that is shorter than it was from one that cannot be read.
func (w *window) readError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &TruncatedError{Offset: w.base + int64(w.hi)}
	}
	return fmt.Errorf("reading index metadata at byte %d: %w", w.base+int64(w.hi), err)
}

func (w *window) next() (byte, error) {
	if w.lo == w.hi {
		if err := w.fill(1); err != nil {
			return 0, err
		}
	}
	b := w.buf[w.lo]
	w.lo++
	return b, nil
}

// take returns the next n bytes, n at most windowSize; they are overwritten by
// the next call.
func (w *window) take(n int) ([]byte, error) {
	if w.hi-w.lo < n {
		if err := w.fill(n); err != nil {
			return nil, err
		}
	}
	b := w.buf[w.lo : w.lo+n]
	w.lo += n
	return b, nil
}

// uint reads an unsigned little-endian number of n bytes, n at most 8.
func (w *window) uint(n int) (uint64, error) {
	b, err := w.take(n)
	if err != nil {
		return 0, err
	}
	if n == 4 { // the length of a text and most numbers
		return uint64(binary.LittleEndian.Uint32(b)), nil
	}
	var v uint64
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v, nil
}

// has refuses a declared length that the file cannot hold. It is asked before
// anything of that length is allocated.
func (w *window) has(n uint64) error {
	if rest := uint64(w.remaining()); n > rest {
		return &TruncatedError{Offset: w.size, Need: int64(min(n-rest, 1<<62))}
	}
	return nil
}

// long reads n bytes into memory of their own; has and a limit were asked before.
func (w *window) long(n int) ([]byte, error) {
	p := make([]byte, n)
	for done := 0; done < n; {
		part, err := w.take(min(n-done, len(w.buf)))
		if err != nil {
			return nil, err
		}
		done += copy(p[done:], part)
	}
	return p, nil
}

func (w *window) skip(n uint64) error {
	if err := w.has(n); err != nil {
		return err
	}
	for n > 0 {
		part := min(n, uint64(len(w.buf)))
		if _, err := w.take(int(part)); err != nil {
			return err
		}
		n -= part
	}
	return nil
}

// line reads up to a newline, which is not returned.
func (w *window) line(most int) (line string, ok bool, err error) {
	var p []byte
	for len(p) <= most {
		b, err := w.next()
		if err != nil {
			return "", false, err
		}
		if b == '\n' {
			return string(p), true, nil
		}
		p = append(p, b)
	}
	return "", false, nil
}
