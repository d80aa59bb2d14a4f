package repair

import "castellan/palace/chroma"

// queued is the outside of a queue row: everything but what it says.
type queued struct {
	seq                           int64
	op, id, kind, bytes, encoding any
	visible, metadata             any
}

// mend is what makes a row readable for Chroma. A row is never removed: its
// number would be handed out again, and the write that got it be purged unseen.
type mend struct {
	seq  int64
	why  string
	set  string // assignments of an UPDATE
	args []any
	// aside empties the row: what it says cannot be used. The backup has it.
	aside bool
}

const (
	emptied     = "operation = 3, id = 'castellan-set-aside', vector = NULL, encoding = NULL, metadata = '{}', created_at = CURRENT_TIMESTAMP"
	contentOnly = "metadata = '{}'"
)

// judge says what is wrong with a row, and what it does as it will be. A row
// that the stored drawers contain already has its text there, so only its
// vector still counts.
func (q queued) judge(dimension int, position int64) (m *mend, id string, op chroma.Operation, vector bool) {
	code, isCode := q.op.(int64)
	id, isID := textOf(q.id)
	op = chroma.Operation(code)
	bytes, _ := q.bytes.(int64)
	kind, _ := textOf(q.kind)
	encoding, _ := textOf(q.encoding)
	vector = kind == "blob" && bytes > 0
	fits := bytes == 4*int64(dimension)
	applied := q.seq <= position
	aside := func(why string) (*mend, string, chroma.Operation, bool) {
		return &mend{seq: q.seq, why: why, set: emptied, aside: true}, id, op, false
	}
	switch {
	case !isCode || code < int64(chroma.OpAdd) || code > int64(chroma.OpDelete):
		return aside("its operation is none")
	case !isID || id == "":
		return aside("it names no id")
	case op != chroma.OpDelete && vector && !fits:
		return aside("its vector has the wrong length")
	case op != chroma.OpDelete && !vector && op != chroma.OpUpdate:
		return aside("it has no vector")
	case op != chroma.OpDelete && vector && encoding != "" && encoding != "FLOAT32":
		return aside("its vector is of numbers that Chroma does not know")
	case !truth(q.metadata) && !applied:
		return aside("its metadata cannot be read")
	}
	m = &mend{seq: q.seq}
	if !truth(q.metadata) {
		m.add("its metadata cannot be read, and is in the drawer", contentOnly)
	}
	if op != chroma.OpDelete && vector && encoding == "" {
		m.add("its encoding is not given", "encoding = 'FLOAT32'")
	}
	if !truth(q.visible) {
		m.add("its time cannot be read", "created_at = CURRENT_TIMESTAMP")
	}
	if m.why == "" {
		m = nil
	}
	return m, id, op, vector
}

func (m *mend) add(why, set string) {
	if m.why != "" {
		m.why += "; "
		m.set += ", "
	}
	m.why += why
	m.set += set
}

func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

func truth(v any) bool {
	n, ok := v.(int64)
	return ok && n != 0
}
