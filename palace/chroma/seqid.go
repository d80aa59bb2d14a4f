package chroma

import (
	"encoding/binary"
	"strconv"
)

// SeqID is a sequence number as a database stores it. Chroma 1.x wants an
// integer; older versions wrote 8 bytes, big-endian, which makes every
// operation of a 1.x fail on that collection.
type SeqID struct {
	// Value is the number itself, decoded whatever its storage; 0 when it
	// cannot be made out.
	Value int64
	// Storage is SQLite's name for the type it was found as: integer, blob,
	// real, text or null.
	Storage string
}

// maxSaneSeqID is beyond what any queue reaches. Values above it come from a
// migration of Chroma's that ran over numbers which were integers already
// (MemPalace #1134).
const maxSaneSeqID = 1 << 53

// Poisoned reports a number no queue ever gave out. The engine believes it all
// the same: writes below it are acknowledged and never applied.
func (s SeqID) Poisoned() bool { return s.Value > maxSaneSeqID || s.Value < 0 }

// Repaired is the number that a poisoned one was made from: Chroma's migration
// leaves its decimal digits as ASCII, padded on the left with bytes of 0x11. With eight digits
// leading ones may be lost, so the queue has the last word.
func (s SeqID) Repaired() (int64, bool) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(s.Value))
	i := 0
	for i < len(b) && b[i] == 0x11 {
		i++
	}
	if i == len(b) {
		return 0, false
	}
	for _, c := range b[i:] {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(string(b[i:]), 10, 64)
	return n, err == nil
}

// decodeSeqID takes whatever SQLite hands out; it never fails.
func decodeSeqID(v any) SeqID {
	switch v := v.(type) {
	case int64:
		return SeqID{v, "integer"}
	case []byte:
		if len(v) != 8 {
			return SeqID{0, "blob"}
		}
		return SeqID{int64(binary.BigEndian.Uint64(v)), "blob"}
	case float64:
		return SeqID{int64(v), "real"}
	case string:
		n, _ := strconv.ParseInt(v, 10, 64)
		return SeqID{n, "text"}
	}
	return SeqID{0, "null"}
}
