package queue

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"regexp"
	"strconv"
	"time"
)

// An entry's file:
//
//	castellan-pending 1\n
//	<head: one line of JSON>\n
//	<SHA-256 of the head, 64 hexadecimal digits>\n
//	<body: Length bytes of JSON, whose SHA-256 is in the head>
//
// so that a list needs the heads only, and a file that was cut short is known
// by its size.
const (
	schema    = 1
	magic     = "castellan-pending "
	sumLength = 2 * sha256.Size
	// maxHead bounds what is read of a file before anything of it is believed.
	maxHead = 64 << 10
)

type head struct {
	ID         string    `json:"id"`
	Palace     text      `json:"palace"`
	Operation  Operation `json:"operation"`
	Collection text      `json:"collection"`
	Rows       int       `json:"rows"`
	QueuedAt   time.Time `json:"queued_at"`
	Length     int64     `json:"length"`
	SHA256     string    `json:"sha256"`
}

// sameWrite compares what was asked for, not when.
func (h head) sameWrite(other head) bool {
	h.QueuedAt, other.QueuedAt = time.Time{}, time.Time{}
	return h == other
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// key shortens an id or a collection's name for file names.
func key(s string) string { return sum([]byte(s))[:16] }

// Names are <sequence>-<collection>-<id>.entry, each of 16 hexadecimal digits:
// the order and the collection are known also of an entry that is damaged. Its
// state is in <sequence>-<collection>-<id>.state.
var entryName = regexp.MustCompile(`^([0-9a-f]{16})-([0-9a-f]{16})-([0-9a-f]{16})$`)

const (
	entrySuffix = ".entry"
	stateSuffix = ".state"
	tempPrefix  = ".tmp-"
)

type slot struct {
	name       string // without suffix
	sequence   uint64
	collection string // key
	id         string // key
	bytes      int64
	regular    bool
}

func parseSlot(name string) (slot, bool) {
	m := entryName.FindStringSubmatch(name)
	if m == nil {
		return slot{}, false
	}
	n, err := strconv.ParseUint(m[1], 16, 64)
	return slot{name: name, sequence: n, collection: m[2], id: m[3]}, err == nil && n < math.MaxInt64
}

func slotName(sequence uint64, collection, id string) string {
	return fmt.Sprintf("%016x-%s-%s", sequence, key(collection), key(id))
}

// seal makes the bytes of an entry's file, but for the body.
func seal(h head) ([]byte, error) {
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%d\n%s\n%s\n", magic, schema, line, sum(line))
	if b.Len() > maxHead {
		return nil, errors.New("the names of its palace and collection are too long")
	}
	return b.Bytes(), nil
}

// openEntry reads the head of an entry's file and leaves f at its body. What is
// wrong with the content is a *PoisonedError.
func openEntry(path string) (f *os.File, h head, err error) {
	poisoned := func(reason string, err error) (*os.File, head, error) {
		if f != nil {
			f.Close()
		}
		return nil, h, &PoisonedError{Path: path, Reason: reason, Err: err}
	}
	// A FIFO put here would hold us for ever.
	if info, err := os.Lstat(path); err != nil {
		return nil, h, err
	} else if !info.Mode().IsRegular() {
		return poisoned("it is not a regular file", nil)
	}
	if f, err = os.Open(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, h, err
		}
		return poisoned("it cannot be opened", err)
	}
	begin := make([]byte, maxHead)
	n, err := io.ReadFull(f, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return poisoned("it cannot be read", err)
	}
	begin = begin[:n]
	version, rest, ok := bytes.Cut(begin, []byte("\n"))
	number, found := bytes.CutPrefix(version, []byte(magic))
	switch {
	case !ok || !found:
		return poisoned("it does not begin as a waiting write does", nil)
	case string(number) != strconv.Itoa(schema):
		return poisoned(fmt.Sprintf("it has version %q, where %d is known; use the Castellan that wrote it", clip(string(number), 20), schema), nil)
	}
	line, rest, ok := bytes.Cut(rest, []byte("\n"))
	check, _, ok2 := bytes.Cut(rest, []byte("\n"))
	if !ok || !ok2 || len(check) != sumLength || string(check) != sum(line) {
		return poisoned("its head does not match its checksum", nil)
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return poisoned("its head cannot be read", err)
	}
	start := int64(len(version) + 1 + len(line) + 1 + len(check) + 1)
	info, err := f.Stat()
	if err != nil {
		return poisoned("it cannot be read", err)
	}
	if h.Length < 0 || info.Size()-start != h.Length {
		return poisoned(fmt.Sprintf("%d bytes of its %d are there", info.Size()-start, h.Length), nil)
	}
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return poisoned("it cannot be read", err)
	}
	return f, h, nil
}

// readEntry reads and checks the whole of an entry of at most limit bytes.
func readEntry(path string, limit int64) (h head, e Entry, err error) {
	f, h, err := openEntry(path)
	if err != nil {
		return h, e, err
	}
	defer f.Close()
	if h.Length > limit {
		return h, e, &PoisonedError{Path: path, Reason: fmt.Sprintf("it has %d bytes, where %d are the most", h.Length, limit)}
	}
	body := make([]byte, h.Length) // the file is as long: openEntry compared
	if _, err := io.ReadFull(f, body); err != nil {
		return h, e, &PoisonedError{Path: path, Reason: "it cannot be read", Err: err}
	}
	if sum(body) != h.SHA256 {
		return h, e, &PoisonedError{Path: path, Reason: "its records do not match their checksum"}
	}
	if err := decode(body, &e); err != nil {
		return h, e, &PoisonedError{Path: path, Reason: "its records cannot be read", Err: err}
	}
	e.fill(h)
	return h, e, nil
}

func (e *Entry) fill(h head) {
	e.ID, e.Palace, e.Operation, e.Collection = h.ID, string(h.Palace), h.Operation, string(h.Collection)
	e.Rows, e.QueuedAt = h.Rows, h.QueuedAt
}

// clip bounds a text that is kept or repeated.
func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
