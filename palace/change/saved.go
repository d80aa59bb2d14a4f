package change

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"castellan/palace/action/undo"
	"castellan/palace/backend"
	"castellan/palace/queue"
)

// rowsFile is the file of an undo record of kind delete: one row a line, in the
// order in which they go.
//
//	{"collection": "mempalace_drawers", "record": {...}}
//
// The record has the form in which parked writes keep theirs, in which every
// value comes back as it was.
const rowsFile = "rows.jsonl"

type savedRow struct {
	Collection []byte          `json:"collection"` // base64: a name need not be UTF-8
	Record     json.RawMessage `json:"record"`
}

// maxRow bounds one line of the file; a row of an engine has at most 16 MiB of
// text, which base64 and escapes can make six times as long.
const maxRow = 128 << 20

func writeRow(w io.Writer, collection string, r backend.Record) error {
	rec, err := queue.EncodeRecord(r)
	if err != nil {
		return err
	}
	line, err := json.Marshal(savedRow{[]byte(collection), rec})
	if err != nil {
		return err
	}
	if len(line) > maxRow {
		return fmt.Errorf("the row %s has %d bytes, too many to be kept for an undo", named(r.ID), len(line))
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// readRows hands over the rows of a record in their order.
func readRows(s *undo.Store, e undo.Entry, fn func(collection string, r backend.Record) error) (err error) {
	f, err := s.Open(e, rowsFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxRow+1)
	for lines.Scan() {
		var row savedRow
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return &undo.DamagedError{Path: s.Path(e.ID), Reason: "a row cannot be read", Err: err}
		}
		r, err := queue.DecodeRecord(row.Record)
		if err != nil {
			return &undo.DamagedError{Path: s.Path(e.ID), Reason: "a row cannot be read", Err: err}
		}
		if err := fn(string(row.Collection), r); err != nil {
			return err
		}
	}
	return lines.Err()
}

// counter counts what a file would have.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// lost says why a row could not be put back once it is gone; "" when it can.
// Its text and metadata are kept in any case.
func lost(r backend.Record, kind backend.Kind) string {
	switch {
	case len(r.Embedding) == 0:
		return "its vector is stored nowhere"
	case r.Document == nil && kind == backend.SQLiteExact:
		return "it has no document"
	case !utf8.ValidString(r.ID):
		return "its id is not UTF-8"
	case r.Document != nil && !utf8.ValidString(*r.Document):
		return "its text is not UTF-8"
	case r.URI != nil && !utf8.ValidString(*r.URI):
		return "its URI is not UTF-8"
	}
	for key, v := range r.Metadata {
		texts := append([]string{key}, textsOf(v)...)
		for _, s := range texts {
			if !utf8.ValidString(s) {
				return "its metadata is not UTF-8"
			}
		}
	}
	return ""
}

func textsOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []string:
		return v
	}
	return nil
}
