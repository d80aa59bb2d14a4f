package pickle

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// maxID bounds an id that is believed; MemPalace's have some 60 bytes.
const maxID = 64 << 10

// Salvage reads the names that a damaged index metadata still holds: the pairs
// of id_to_label up to the place where the file ends or stops making sense.
// Chroma truncates the file before it writes it anew, so what is left of a
// write that was cut short is the beginning of the newest names. whole says
// that the map was read to its end.
//
// It knows the form in which Chroma 1.x writes, and stops at anything else. It
// loads nothing and looks up nothing, like Read. The error is the context's, or
// of a disk that cannot be read.
func Salvage(ctx context.Context, path string) (ids map[string]uint64, whole bool, err error) {
	f, err := open(path)
	if err != nil {
		return nil, false, err
	}
	s := salvager{r: bufio.NewReaderSize(f, 256<<10), ids: map[string]uint64{}, owners: map[uint64]string{}}
	err = s.run(ctx)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	for id, label := range s.ids {
		if s.owners[label] == "" { // two ids have it: nobody's
			delete(s.ids, id)
		}
	}
	return s.ids, s.whole, errors.Join(err, f.Close())
}

// open opens a regular file, without waiting for anything else.
func open(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &NotRegularError{Mode: info.Mode().String()}
	}
	return os.Open(path)
}

type salvager struct {
	r      *bufio.Reader
	ids    map[string]uint64
	owners map[uint64]string
	whole  bool
	// text is the text that was read last; found that id_to_label was reached,
	// inside that its dict was.
	text          *string
	found, inside bool
}

func (s *salvager) run(ctx context.Context) error {
	for n := 0; !s.whole; n++ {
		if n%10000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		op, err := s.r.ReadByte()
		if err != nil {
			return err
		}
		switch op {
		case 0x80: // PROTO
			_, err = s.r.Discard(1)
		case '(', 'u', 's': // MARK, SETITEMS, SETITEM
		case 'N': // NONE
			s.text = nil
		case '}': // EMPTY_DICT
			s.whole = s.inside
			s.inside = s.found && s.text != nil && *s.text == "id_to_label"
			s.text = nil
		case 'X': // BINUNICODE
			err = s.name()
		case 'J', 'M', 'K': // BININT, BININT2, BININT1
			err = s.label(op)
		default:
			return io.EOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *salvager) name() error {
	var b [4]byte
	if _, err := io.ReadFull(s.r, b[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(b[:])
	if n > maxID {
		return io.EOF
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(s.r, raw); err != nil {
		return err
	}
	text := string(raw)
	if s.text = &text; !s.inside && text == "id_to_label" {
		s.found = true
	}
	return nil
}

func (s *salvager) label(op byte) error {
	width := map[byte]int{'J': 4, 'M': 2, 'K': 1}[op]
	var b [4]byte
	if _, err := io.ReadFull(s.r, b[:width]); err != nil {
		return err
	}
	label := uint64(binary.LittleEndian.Uint32(b[:]))
	id := s.text
	s.text = nil
	if !s.inside || id == nil || label == 0 || op == 'J' && int32(label) < 0 {
		return nil
	}
	if _, taken := s.owners[label]; taken {
		s.owners[label] = ""
	} else {
		s.owners[label] = *id
	}
	s.ids[*id] = label
	return nil
}
