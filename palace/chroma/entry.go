package chroma

import (
	"encoding/binary"
	"encoding/json"
	"math"

	"castellan/palace/backend"
)

// entry is one record's part of a write: what the queue will hold.
type entry struct {
	queueRow
	vector []byte // float32s, little-endian; nil when the write has none
	text   string // the queue's metadata column
}

// newEntry puts a record's parts under the keys the engine keeps them under.
func newEntry(op Operation, id string, vector []float32, document, uri *string, m backend.Metadata, unset []string) (entry, error) {
	e := entry{queueRow: queueRow{op: op, id: id, deleted: unset}}
	if vector != nil {
		e.vector = make([]byte, 0, 4*len(vector))
		for _, x := range vector {
			e.vector = binary.LittleEndian.AppendUint32(e.vector, math.Float32bits(x))
		}
	}
	e.metadata = make(backend.Metadata, len(m)+2)
	for key, v := range m {
		e.metadata[key] = v
	}
	if document != nil {
		e.metadata[documentKey] = *document
	}
	if uri != nil {
		e.metadata[uriKey] = *uri
	}
	var err error
	e.text, err = e.queueText()
	return e, err
}

// queueText writes the flat object that the queue keeps, with null for what is
// removed.
func (e entry) queueText() (string, error) {
	if len(e.deleted) == 0 {
		b, err := e.metadata.MarshalJSON()
		return string(b), err
	}
	parts := make(map[string]json.RawMessage, len(e.metadata)+len(e.deleted))
	for key, v := range e.metadata {
		b, err := backend.EncodeValue(v)
		if err != nil {
			return "", err
		}
		parts[key] = b
	}
	for _, key := range e.deleted {
		parts[key] = json.RawMessage("null")
	}
	b, err := json.Marshal(parts)
	return string(b), err
}

// dimension is the length of the vector; 0 when there is none.
func (e entry) dimension() int { return len(e.vector) / 4 }
