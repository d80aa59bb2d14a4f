package dbfile

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

const (
	walHeaderSize = 32
	walFrameSize  = 24 // without its page

	// walReadLimit bounds how much of an unread log one look reads, in bytes. Beyond it the count is a lower bound,
	// which still answers the question that matters: is there anything in it?
	walReadLimit = 256 << 20
)

// log is what an unread -wal holds.
type log struct {
	sound  bool // its header is valid
	frames int  // up to the last commit: what a reader that ignores the log would miss
}

// readLog looks into a log. Its frames are counted only if the caller needs them, because that takes reading it.
// Header: magic u32 (low bit: byte order of the checksums), version u32, page size u32, sequence u32, two salts,
// two checksums. Frame: page u32, pages after commit u32 (0 within a transaction), the salts, two checksums that
// go on from the frame before, the page (sqlite.org/fileformat2.html, 4).
func readLog(ctx context.Context, name string, count bool) (log, error) {
	f, err := os.OpenFile(name, openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return log{}, nil
	}
	if err != nil {
		return log{}, classify(name, err)
	}
	defer f.Close() // SQLite puts no locks on a -wal: closing this one drops nothing
	info, err := f.Stat()
	if err != nil {
		return log{}, classify(name, err)
	}
	if err := regular(name, info); err != nil {
		return log{}, err
	}
	l, err := scanLog(ctx, bufio.NewReaderSize(io.LimitReader(f, walReadLimit), 64<<10), count)
	if err != nil && ctx.Err() == nil {
		err = classify(name, err)
	}
	return l, err
}

func scanLog(ctx context.Context, r io.Reader, count bool) (l log, err error) {
	var head [walHeaderSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return l, cutShort(err)
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch binary.BigEndian.Uint32(head[0:]) {
	case 0x377f0682:
	case 0x377f0683:
		order = binary.BigEndian
	default:
		return l, nil
	}
	page := binary.BigEndian.Uint32(head[8:])
	if binary.BigEndian.Uint32(head[4:]) != 3007000 || page < 512 || page > 65536 || page&(page-1) != 0 {
		return l, nil
	}
	s := walSum{order: order}
	s.add(head[:24])
	if l.sound = s.matches(head[24:]); !l.sound || !count {
		return l, nil
	}
	frame := make([]byte, walFrameSize+int(page))
	for n := 1; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return l, ctx.Err()
		}
		if _, err := io.ReadFull(r, frame); err != nil {
			return l, cutShort(err)
		}
		s.add(frame[:8])
		s.add(frame[walFrameSize:])
		if string(frame[8:16]) != string(head[16:24]) || !s.matches(frame[16:]) || binary.BigEndian.Uint32(frame) == 0 {
			return l, nil // the rest is left over from before the log was reset
		}
		if binary.BigEndian.Uint32(frame[4:]) != 0 {
			l.frames = n
		}
	}
}

// walSum is the running checksum of a log, over words of eight bytes.
type walSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (s *walSum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s.s0 += s.order.Uint32(b) + s.s1
		s.s1 += s.order.Uint32(b[4:]) + s.s0
	}
}

// matches compares with the stored sums, which are big-endian whatever the order of the words.
func (s *walSum) matches(b []byte) bool {
	return binary.BigEndian.Uint32(b) == s.s0 && binary.BigEndian.Uint32(b[4:]) == s.s1
}

// cutShort forgives the end of the log, wherever it comes.
func cutShort(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}
