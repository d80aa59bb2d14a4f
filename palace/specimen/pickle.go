package specimen

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// pickle is index_metadata.pickle as Chroma's Rust core writes it: which id
// bears which label. ids and labels are of equal length.
type pickle struct {
	total  uint64 // the highest label ever given
	ids    []string
	labels []uint64
}

// The opcodes that occur, of pickle protocol 3.
const (
	opProto      = 0x80
	opEmptyDict  = '}'
	opMark       = '('
	opUnicode    = 'X'
	opInt        = 'J'
	opNone       = 'N'
	opSetItems   = 'u'
	opStop       = '.'
	setItemsEach = 1000 // entries, then a new MARK
)

func writePickle(dir string, p pickle) error {
	return os.WriteFile(filepath.Join(dir, pickleFile), p.bytes(), 0o600)
}

// bytes is the file, with the keys in the order in which Chroma has them.
func (p pickle) bytes() []byte {
	b := []byte{opProto, 3, opEmptyDict, opMark}
	b = append(appendUnicode(b, "dimensionality"), opNone)
	b = appendInt(appendUnicode(b, "total_elements_added"), p.total)
	b = append(appendUnicode(b, "max_seq_id"), opNone)
	b = appendDict(appendUnicode(b, "id_to_label"), len(p.ids), func(b []byte, i int) []byte {
		return appendInt(appendUnicode(b, p.ids[i]), p.labels[i])
	})
	b = appendDict(appendUnicode(b, "label_to_id"), len(p.ids), func(b []byte, i int) []byte {
		return appendUnicode(appendInt(b, p.labels[i]), p.ids[i])
	})
	b = append(appendUnicode(b, "id_to_seq_id"), opEmptyDict)
	return append(b, opSetItems, opStop)
}

func appendDict(b []byte, n int, entry func([]byte, int) []byte) []byte {
	b = append(b, opEmptyDict)
	for i := range n {
		if i%setItemsEach == 0 {
			b = append(b, opMark)
		}
		b = entry(b, i)
		if i%setItemsEach == setItemsEach-1 || i == n-1 {
			b = append(b, opSetItems)
		}
	}
	return b
}

func appendUnicode(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, opUnicode), uint32(len(s)))
	return append(b, s...)
}

func appendInt(b []byte, n uint64) []byte {
	return binary.LittleEndian.AppendUint32(append(b, opInt), uint32(int32(n)))
}

// errPickle says that a sample's pickle is not as Chroma writes it.
var errPickle = errors.New("not a pickle of Chroma's Rust core")

// readPickle reads back what Chroma wrote. It knows that one shape only, which
// is all that the samples have; the program's own reader, which must stand
// hostile files, is another.
func readPickle(dir string) (p pickle, err error) {
	f, err := os.Open(filepath.Join(dir, pickleFile))
	if err != nil {
		return p, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	key, mirrored := "", false
	for {
		op, err := r.ReadByte()
		if err != nil {
			return p, fmt.Errorf("%w: %w", errPickle, err)
		}
		switch op {
		case opProto:
			_, err = r.Discard(1)
		case opEmptyDict, opMark, opNone, opSetItems:
		case opUnicode:
			key, err = readUnicode(r)
			mirrored = mirrored || key == "label_to_id" // the second map repeats the first
		case opInt:
			var n int32
			err = binary.Read(r, binary.LittleEndian, &n)
			switch {
			case mirrored:
			case key == "total_elements_added":
				p.total = uint64(n)
			default:
				p.ids, p.labels = append(p.ids, key), append(p.labels, uint64(n))
			}
		case opStop:
			return p, nil
		default:
			err = fmt.Errorf("%w: opcode %#x", errPickle, op)
		}
		if err != nil {
			return p, err
		}
	}
}

func readUnicode(r *bufio.Reader) (string, error) {
	var n uint32
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return "", err
	}
	if n > 1<<16 {
		return "", fmt.Errorf("%w: string of %d bytes", errPickle, n)
	}
	b := make([]byte, n)
	for i := range b {
		var err error
		if b[i], err = r.ReadByte(); err != nil {
			return "", err
		}
	}
	return string(b), nil
}
