package chroma

// QueueFault is a row of the write-ahead queue that Chroma stumbles over.
type QueueFault struct {
	SeqID int64
	Kind  FaultKind
}

// FaultKind says what is wrong with a queue row, and so what Chroma does with
// it when it loads the collection.
type FaultKind string

// The faults, with Chroma's own reaction.
const (
	FaultOperation FaultKind = "unknown operation"      // the process panics
	FaultID        FaultKind = "empty id"               // refused
	FaultMetadata  FaultKind = "metadata is not JSON"   // "Failed to pull logs", every operation
	FaultNoVector  FaultKind = "vector missing"         // "Failed to apply logs", every operation
	FaultEncoding  FaultKind = "encoding not FLOAT32"   // the same
	FaultLength    FaultKind = "vector of wrong length" // not checked: memory beyond the vector is read
	FaultTime      FaultKind = "created_at unreadable"  // the row is invisible
)

// rowShape is a queue row as far as its form matters.
type rowShape struct {
	known     bool // the operation is one of the four
	op        Operation
	id        string
	vector    bool
	encoding  string // upper case
	bytes     int64  // of the vector
	dimension *int   // of the collection, nil while unknown
	unseen    bool   // created_at does not parse
	metadata  bool   // NULL or a JSON object
}

// queueRowFault names the worst thing about a row; "" when Chroma takes it.
func queueRowFault(r rowShape) FaultKind {
	switch {
	case r.unseen:
		return FaultTime
	case !r.known:
		return FaultOperation
	case r.id == "":
		return FaultID
	case !r.metadata:
		return FaultMetadata
	case r.op == OpDelete:
		return ""
	case !r.vector && r.op != OpUpdate:
		return FaultNoVector
	case !r.vector:
		return ""
	case r.encoding != "FLOAT32":
		return FaultEncoding
	case r.bytes == 0 || r.bytes%4 != 0:
		return FaultLength
	case r.dimension != nil && r.bytes != 4*int64(*r.dimension):
		return FaultLength
	}
	return ""
}
