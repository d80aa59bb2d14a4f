package dbfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// headerSize is the length of the database header at the start of page 1 (sqlite.org/fileformat2.html, 1.3).
const headerSize = 100

var magic = []byte("SQLite format 3\x00")

// Header is what the first 100 bytes of a database say. It belongs to the main file alone: frames in a -wal and a
// transaction under way may know better.
type Header struct {
	PageSize      int    // bytes, a power of two, 512 to 65536
	PageCount     uint32 // as written; see Facts.Pages
	FreePages     uint32
	ChangeCounter uint32
	ValidFor      uint32 // the change counter for which PageCount and SQLiteVersion hold
	SQLiteVersion uint32 // who wrote last, as in 3045001 for 3.45.1
	WALMode       bool   // the read version (byte 19) asks for a write-ahead log
	Encoding      string // UTF-8, UTF-16le or UTF-16be; empty in a database without tables
}

// parseHeader judges b as SQLite does in lockBtree: what it answers with SQLITE_NOTADB is refused here.
func parseHeader(b []byte) (Header, Problem, string) {
	if !bytes.HasPrefix(b, magic[:min(len(b), len(magic))]) {
		if len(bytes.Trim(b, "\x00")) == 0 {
			return Header{}, NotDatabase, "its first bytes are all zero"
		}
		return Header{}, NotDatabase, "it does not begin with the mark of SQLite"
	}
	if len(b) < headerSize {
		return Header{}, Truncated, fmt.Sprintf("%d bytes, a header has %d", len(b), headerSize)
	}
	word := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }

	h := Header{
		PageSize:      int(binary.BigEndian.Uint16(b[16:])),
		ChangeCounter: word(24),
		PageCount:     word(28),
		FreePages:     word(36),
		ValidFor:      word(92),
		SQLiteVersion: word(96),
		WALMode:       b[19] == 2,
	}
	if h.PageSize == 1 {
		h.PageSize = 65536 // does not fit the field
	}
	switch {
	case h.PageSize < 512 || h.PageSize&(h.PageSize-1) != 0:
		return Header{}, NotDatabase, fmt.Sprintf("page size %d", h.PageSize)
	case b[19] > 2:
		return Header{}, NotDatabase, fmt.Sprintf("read version %d, known are 1 and 2", b[19])
	case b[21] != 64 || b[22] != 32 || b[23] != 32:
		return Header{}, NotDatabase, "its payload fractions are not 64, 32, 32"
	case h.PageSize-int(b[20]) < 480:
		return Header{}, NotDatabase, fmt.Sprintf("%d bytes reserved in pages of %d", b[20], h.PageSize)
	}
	switch word(56) {
	case 1:
		h.Encoding = "UTF-8"
	case 2:
		h.Encoding = "UTF-16le"
	case 3:
		h.Encoding = "UTF-16be"
	}
	return h, "", ""
}
