package hnswlib

import (
	"context"
	"encoding/binary"
	"fmt"
)

// LinkFacts is what a walk through link_lists.bin found.
type LinkFacts struct {
	Records int   // elements whose record was read
	Bytes   int64 // of these records
	// Partial says that the byte budget ended the walk before the last element.
	Partial bool
	// TrailingBytes lie behind the record of the last element. A sound file has
	// none; the exploding ones (MemPalace #344) have gigabytes.
	TrailingBytes int64
	// MaxLevel is the highest level a record has, -1 without records. EntryLevel
	// is that of the entry point, -1 if its record was not read.
	MaxLevel, EntryLevel int
	// BadRecords have a level above the header's, a count above M, or a neighbour
	// that does not exist or comes twice; FirstBad is the offset of the first, -1 without.
	BadRecords int
	FirstBad   int64
	// BadLevels are records that name a neighbour on a level which it does not
	// reach; FirstBadLevel is the offset of the first, -1 without. Looked for when
	// everything is examined.
	BadLevels     int
	FirstBadLevel int64
	// Levels counts the elements by their highest level.
	Levels []int
}

// WalkLinks walks link_lists.bin record by record in bounded windows, at most
// maxBytes of it (0: all of it). A record is a uint32 length, 0 for an element
// of level 0, and that many bytes: a block a level. The length is the only way
// to the next record, so one that cannot be right ends the walk with a
// *LinksError, or a *ShortError if the file ends first; the facts then tell how
// far it came. Work is linear in the elements, never in a sparse file's length.
func (r *Reader) WalkLinks(ctx context.Context, maxBytes int64) (LinkFacts, error) {
	return r.walkLinks(ctx, maxBytes, nil)
}

// noLinks are the facts of a walk that has not begun.
func noLinks() LinkFacts {
	return LinkFacts{MaxLevel: -1, EntryLevel: -1, FirstBad: -1, FirstBadLevel: -1}
}

// walkLinks is WalkLinks; told, if not nil, hears of every record.
func (r *Reader) walkLinks(ctx context.Context, maxBytes int64, told func(internal, level int, at int64)) (LinkFacts, error) {
	w := linkWalk{r: r, block: r.header.linkBlock(), facts: noLinks(), told: told}
	if r.links == nil {
		if f := r.files.Links; f.Present {
			return w.facts, &NotRegularError{Dir: r.files.Dir, File: LinksFile, Mode: f.Mode}
		}
		return w.facts, &MissingError{Dir: r.files.Dir, File: LinksFile}
	}
	size := r.files.Links.Apparent
	// An empty file with elements, the state of MemPalace #1457, is told as one
	// lack, not as a broken first record.
	if least := int64(r.header.Elements) * 4; size < least {
		return w.facts, &ShortError{Dir: r.files.Dir, File: LinksFile, Got: size, Want: least}
	}
	w.buf = make([]byte, min(size, windowSize))
	for uint64(w.facts.Records) < r.header.Elements {
		if maxBytes > 0 && w.facts.Bytes >= maxBytes {
			w.facts.Partial = true
			return w.facts, nil
		}
		if err := w.record(ctx); err != nil {
			return w.facts, err
		}
	}
	w.facts.TrailingBytes = size - w.facts.Bytes
	return w.facts, nil
}

type linkWalk struct {
	r      *Reader
	block  int64 // bytes of one level of one element
	facts  LinkFacts
	lists  listCheck
	told   func(internal, level int, at int64)
	buf    []byte
	lo, hi int // unread bytes are buf[lo:hi], the first of them at facts.Bytes
}

// need makes n bytes from facts.Bytes on available: a record is at most 64
// blocks of 128 KiB, so the window grows to 8 MiB in the worst file.
func (w *linkWalk) need(ctx context.Context, n int64) ([]byte, error) {
	if int64(w.hi-w.lo) >= n {
		return w.buf[w.lo : w.lo+int(n)], nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	at, size := w.facts.Bytes, w.r.files.Links.Apparent
	if size-at < n {
		return nil, &ShortError{Dir: w.r.files.Dir, File: LinksFile, Got: size, Want: at + n}
	}
	if n > int64(len(w.buf)) {
		w.buf = make([]byte, n)
	}
	w.lo, w.hi = 0, int(min(int64(len(w.buf)), size-at))
	err := w.r.readAt(w.r.links, LinksFile, w.buf[:w.hi], at)
	if err != nil {
		w.hi = 0
		return nil, err
	}
	return w.buf[:n], nil
}

func (w *linkWalk) record(ctx context.Context) error {
	b, err := w.need(ctx, 4)
	if err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(b))
	if length%w.block != 0 || length > maxLevels*w.block {
		return &LinksError{
			Offset: w.facts.Bytes, Record: w.facts.Records,
			Reason: fmt.Sprintf("it declares %d bytes, not a multiple of %d up to level %d", length, w.block, maxLevels),
		}
	}
	if b, err = w.need(ctx, 4+length); err != nil {
		return err
	}
	level := int(length / w.block)
	bad := level > int(w.r.header.MaxLevel)
	for at := int64(4); at < int64(len(b)); at += w.block {
		bad = !w.lists.sound(b[at:at+w.block], w.facts.Records, w.r.header.MaxM, w.r.header.Elements) || bad
	}
	if bad {
		if w.facts.BadRecords == 0 {
			w.facts.FirstBad = w.facts.Bytes
		}
		w.facts.BadRecords++
	}
	if w.told != nil {
		w.told(w.facts.Records, level, w.facts.Bytes)
	}
	for len(w.facts.Levels) <= level {
		w.facts.Levels = append(w.facts.Levels, 0)
	}
	w.facts.Levels[level]++
	w.facts.MaxLevel = max(w.facts.MaxLevel, level)
	if w.facts.Records == int(w.r.header.EntryPoint) {
		w.facts.EntryLevel = level
	}
	w.facts.Records++
	w.facts.Bytes += int64(len(b))
	w.lo += len(b)
	return nil
}
