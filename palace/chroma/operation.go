package chroma

// Operation is the code of a queued write, as embeddings_queue stores it.
type Operation int64

// The operations a local Chroma writes. Any other code makes it panic.
const (
	OpAdd    Operation = 0
	OpUpdate Operation = 1
	OpUpsert Operation = 2
	OpDelete Operation = 3
)

func (op Operation) String() string {
	switch op {
	case OpAdd:
		return "add"
	case OpUpdate:
		return "update"
	case OpUpsert:
		return "upsert"
	case OpDelete:
		return "delete"
	}
	return "unknown"
}
