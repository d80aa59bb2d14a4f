package backend

import "fmt"

// Kind names the engine that keeps a palace, in MemPalace's own words.
type Kind string

// The kinds that Castellan can name. Only the first three can be opened.
const (
	Chroma      Kind = "chroma"
	SQLiteExact Kind = "sqlite_exact"
	ChromaHTTP  Kind = "chroma_http"
	Qdrant      Kind = "qdrant"
	PGVector    Kind = "pgvector"
	Milvus      Kind = "milvus"
	Unknown     Kind = "unknown"
)

// FileID is the identity of a file or directory: device and inode. Spellings,
// symlinks and bind mounts of one palace share it; a palace that was deleted
// and made again under the same path does not.
type FileID struct {
	Dev, Ino uint64
}

// IsZero reports whether the identity could not be read.
func (id FileID) IsZero() bool { return id == FileID{} }

func (id FileID) String() string { return fmt.Sprintf("%d:%d", id.Dev, id.Ino) }

// Ref says which palace is meant, without opening it.
type Ref struct {
	// Path as the person wrote it, made absolute.
	Path string
	// Real is Path with every symlink resolved; empty when that failed.
	Real string
	// ID is the directory's identity; zero when it could not be read.
	ID   FileID
	Kind Kind
}
