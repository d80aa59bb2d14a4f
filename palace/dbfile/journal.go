package dbfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// JournalState is what a rollback journal means to the next reader.
type JournalState string

// The states of a rollback journal.
const (
	NoJournal    JournalState = ""       // none, or zero bytes
	ColdJournal  JournalState = "cold"   // kept with a zeroed header (journal_mode=PERSIST): SQLite ignores it
	InUseJournal JournalState = "in-use" // a write transaction is under way in some process
	HotJournal   JournalState = "hot"    // its writer died: the database is half written until it is rolled back
	SpentJournal JournalState = "spent"  // nothing to roll back, but it must be removed before SQLite reads on
)

var journalMagic = []byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}

// journalSector is the least a journal header occupies. SQLite reads no header from a shorter journal.
const journalSector = 512

// journal is the start of a rollback journal: magic, records u32, nonce u32, pages u32, sector u32, page size u32.
type journal struct {
	state JournalState
	pages int64 // length of the database before the transaction, in pages
	page  int64 // page size, bytes
}

// journalOf judges the journal of an open file. The answer is only good if the journal stayed the same while the
// locks were asked, because a writer deletes it and unlocks right after.
func (f *file) journalOf(real string) (journal, error) {
	name := real + "-journal"
	for range 3 {
		before, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && before.Mode().IsRegular() && before.Size() == 0 {
			return journal{}, nil
		}
		if err != nil {
			return journal{}, classify(name, err)
		}
		if err := regular(name, before); err != nil {
			return journal{}, err
		}
		if f.written() {
			return journal{state: InUseJournal}, nil
		}
		j, err := readJournal(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return journal{}, classify(name, err)
		}
		after, err := os.Lstat(name)
		if err == nil && os.SameFile(before, after) && before.Size() == after.Size() &&
			before.ModTime().Equal(after.ModTime()) && !f.written() {
			return j, nil
		}
	}
	return journal{state: InUseJournal}, nil // it changes faster than we look: somebody is at work
}

func readJournal(name string) (journal, error) {
	f, err := os.OpenFile(name, openFlags, 0)
	if err != nil {
		return journal{}, err
	}
	defer f.Close() // SQLite puts no locks on a journal: closing this one drops nothing
	info, err := f.Stat()
	if err != nil {
		return journal{}, err
	}
	if err := regular(name, info); err != nil {
		return journal{}, err
	}
	var b [28]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return journal{}, err
	}
	switch {
	case n == 0 || b[0] == 0:
		return journal{state: ColdJournal}, nil
	case info.Size() < journalSector || !bytes.Equal(b[:8], journalMagic):
		return journal{state: SpentJournal}, nil
	}
	j := journal{
		state: HotJournal,
		pages: int64(binary.BigEndian.Uint32(b[16:])),
		page:  int64(binary.BigEndian.Uint32(b[24:])),
	}
	// A transaction over several databases is committed by deleting the super-journal that all journals name. A
	// journal whose super-journal is gone belongs to a transaction that was committed: rolling back would undo it.
	super, _, err := superJournal(f, info.Size())
	if err != nil {
		return journal{}, err
	}
	if super != "" && !present(super) {
		j.state = SpentJournal
	}
	return j, nil
}

// present is SQLite's idea of existence: a regular file of zero bytes does not exist.
func present(name string) bool {
	info, err := os.Stat(name)
	return err == nil && (!info.Mode().IsRegular() || info.Size() > 0)
}

// superJournal reads the record at the end of a journal that names its super-journal: page number u32, name, length
// u32, checksum u32, magic. It returns the name, empty if there is none, and where the record begins.
func superJournal(r io.ReaderAt, size int64) (name string, at int64, err error) {
	const maxName = 512 // MAX_PATHNAME of SQLite: it ignores longer ones
	if size < 20 {
		return "", 0, nil
	}
	var tail [16]byte
	if _, err := r.ReadAt(tail[:], size-16); err != nil {
		return "", 0, err
	}
	n := int64(binary.BigEndian.Uint32(tail[:]))
	if !bytes.Equal(tail[8:], journalMagic) || n == 0 || n > maxName || n > size-20 {
		return "", 0, nil
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, size-16-n); err != nil {
		return "", 0, err
	}
	// The checksum adds up C chars, whose sign depends on who compiled the writer.
	sum := binary.BigEndian.Uint32(tail[4:])
	signed, unsigned := sum, sum
	for _, c := range b {
		signed -= uint32(int32(int8(c)))
		unsigned -= uint32(c)
	}
	if signed != 0 && unsigned != 0 || !superJournalName(b) {
		return "", 0, nil
	}
	return string(b), size - 20 - n, nil
}

// superJournalName accepts what SQLite names such files, -mjXXXXXX9XX with hexadecimal digits, and ignores
// everything else like SQLite since 3.53: a crafted journal must not make anybody look at, or delete, other files.
func superJournalName(b []byte) bool {
	n := len(b)
	if n < 12 || string(b[n-12:n-9]) != "-mj" || b[n-3] != '9' {
		return false
	}
	for _, c := range b[n-9:] {
		if (c < '0' || c > '9') && (c < 'A' || c > 'F') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
