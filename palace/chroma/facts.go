package chroma

import (
	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
)

// Facts is what one look at a palace's database and index files shows, without
// a verdict. Each question fails on its own: a damaged b-tree must not hide
// the answers of all the others, and what could not be read is in Unread
// instead of being zero.
type Facts struct {
	Schema SchemaFacts
	Queue  QueueFacts
	Text   TextFacts
	// Collections in the catalogue's order.
	Collections []CollectionFacts
	// SegmentIDs are all segments the database names, also those whose
	// collection is gone.
	SegmentIDs map[string]bool
	// HighestSeqID is the highest sane sequence number of a queue row or a
	// stored record.
	HighestSeqID int64
	// HighestPosition is the highest sane position of a metadata segment. The queue's
	// top row must not lie below it: SQLite would hand its numbers out again,
	// and writes that got them would be purged unseen.
	HighestPosition int64
	// BlobSeqIDs counts records whose sequence number is stored as 8 bytes.
	BlobSeqIDs *int64
	// OrphanRows counts rows whose record is gone, by table; looked for in
	// full depth only.
	OrphanRows map[string]int64
	Unread     []Unread
}

// Depth is how much is read.
type Depth int

// Sampled looks at sets of ids and samples of the index, for every refresh.
// Full reads everything, and the full-text index on a private copy.
const (
	Sampled Depth = iota
	Full
)

// Unread is a question that the database could not answer.
type Unread struct {
	// Question in plain words, such as "the ids of mempalace_drawers".
	Question string
	Err      error
	// Around says that the answer was found another way, past the damage.
	Around bool
}

// CollectionFacts is what is true of one collection.
type CollectionFacts struct {
	Row CollectionRow
	// Rows is the exact count, pending writes applied; nil when unreadable.
	Rows *int64
	// Unapplied counts queued writes that the metadata segment does not
	// contain yet: acknowledged, and not visible to anybody.
	Unapplied int64
	// AtStake counts queued vectors below the position of a vector segment that
	// has no index to load: the next write would purge them.
	AtStake int64
	// Applied is the highest sequence number among the stored records, nil
	// where it was not asked for or there is none.
	Applied *int64
	// Bare counts records without any metadata; nil where not asked for.
	Bare     *int64
	Coverage *Coverage
	Index    IndexFacts
}

// IndexFacts describes the files of a vector segment.
type IndexFacts struct {
	// Segment is the id, Dir the directory's path; empty without a segment.
	Segment, Dir string
	// Files are sizes only; all absent when the directory is missing.
	Files hnswlib.Files
	// FilesErr says why not even sizes could be read; a *hnswlib.MissingError
	// for a directory that is not there.
	FilesErr error
	// Graph judges the four binary files; nil where they could not be opened,
	// GraphErr says why.
	Graph    *hnswlib.Facts
	GraphErr error
	// Pickle is nil where there is none or it could not be read; PickleErr
	// says why. Its id map is not kept.
	Pickle    *pickle.IndexMetadata
	PickleErr error
	// IDs is how many ids the pickle maps.
	IDs int
	// Labels sums up the elements' labels; nil where they were not read, which
	// leaves the pickle's word for what is in the index.
	Labels *LabelFacts
	// Scanned says that Chroma searches this index without following its links:
	// a fifth of it is deleted and fewer than 100 vectors live.
	Scanned bool
	// Moving says that a writer changed the files during every attempt to read
	// them, so the sets may mix two states.
	Moving bool
}

// Flushed reports that Chroma would load this index: its metadata names ids.
// Before the first flush the four files are there with no element in them.
func (x IndexFacts) Flushed() bool { return x.Pickle != nil && x.IDs > 0 }

// LabelFacts holds the elements' labels against the pickle.
type LabelFacts struct {
	Elements, Deleted int64
	// Unnamed are live elements whose label the pickle does not know: a search
	// that hits one fails (Chroma answers 500 "Error finding id").
	Unnamed int64
	// Absent are ids of the pickle whose label no live element has.
	Absent int64
}
