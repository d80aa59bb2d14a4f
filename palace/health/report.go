// Package health turns what was read of a palace into what is true of it: one
// report, the same for status, doctor and the screens.
//
// A verdict comes from sets of ids, never from counts or thresholds, and a
// figure that could not be read is nil, never 0.
package health

import "time"

// Report is everything known of one palace at one moment. Its JSON form is a
// promise to scripts: fields are added, never renamed.
type Report struct {
	Palace      Palace       `json:"palace"`
	Collections []Collection `json:"collections"`
	Lock        Lock         `json:"lock"`
	Openers     []Opener     `json:"openers"`
	Findings    []Finding    `json:"findings"`
	CheckedWith CheckedWith  `json:"checked_with"`
	Verdict     Verdict      `json:"verdict"`
	// Growth is nil where nothing is remembered of this palace.
	Growth *Growth `json:"growth,omitempty"`
	// Error says why the palace is missing or could not be read; nil when it
	// could.
	Error *Error `json:"error,omitempty"`
}

// Palace says which palace was looked at and how it was found.
type Palace struct {
	Path     string   `json:"path"`
	RealPath *string  `json:"real_path"`
	Aliases  []string `json:"aliases"`
	Source   string   `json:"source"`
	Backend  string   `json:"backend"`
	State    State    `json:"state"`
	ReadOnly bool     `json:"read_only"`
	Bytes    *Bytes   `json:"bytes"`
}

// State tells apart what people otherwise take for one another.
type State string

// The states of a palace.
const (
	Missing       State = "missing"       // no such directory
	Empty         State = "empty"         // a directory without a database
	Uninitialised State = "uninitialised" // a database without collections
	OK            State = "ok"            // collections can be listed
	Unreadable    State = "unreadable"    // something is there and cannot be read
)

// Bytes are apparent size and what the file system really gave; they differ by
// orders of magnitude for sparse files.
type Bytes struct {
	Apparent  int64 `json:"apparent"`
	Allocated int64 `json:"allocated"`
}

// Collection is one collection's figures and verdict.
type Collection struct {
	Name      string  `json:"name"`
	ID        *string `json:"id"`
	Rows      *int64  `json:"rows"`
	Dimension *int    `json:"dimension"`
	Space     *string `json:"space"`
	Embedder  *string `json:"embedder"`
	Vectors   Vectors `json:"vectors"`
	Index     *Index  `json:"index"`
	Wings     []Wing  `json:"wings"`
	Verdict   Verdict `json:"verdict"`
	// OpenedBy is nil for palaces that no Chroma opens.
	OpenedBy *OpenedBy `json:"opened_by"`
}

// Vectors counts sets of ids: searchable are live ids a vector search can
// reach, missing those it cannot, stale ids in the index that the database no
// longer has.
type Vectors struct {
	Indexed    *int64 `json:"indexed"`
	Queued     *int64 `json:"queued"`
	Searchable *int64 `json:"searchable"`
	Missing    *int64 `json:"missing"`
	Stale      *int64 `json:"stale"`
}

// Index describes the vector index on disk.
type Index struct {
	State         IndexState `json:"state"`
	Segment       *string    `json:"segment"`
	Elements      *int64     `json:"elements"`
	Deleted       *int64     `json:"deleted"`
	Capacity      *int64     `json:"capacity"`
	MaxLevel      *int       `json:"max_level"`
	M             *int       `json:"m"`
	Dimension     *int       `json:"dimension"`
	Bytes         *Bytes     `json:"bytes"`
	LinkRatio     *float64   `json:"link_ratio"`
	SyncThreshold *int64     `json:"sync_threshold"`
}

// IndexState is the index in one word.
type IndexState string

// The states of an index.
const (
	IndexNone      IndexState = "none"      // no files yet, none needed
	IndexUnflushed IndexState = "unflushed" // every vector still waits in the queue: normal
	IndexOK        IndexState = "ok"
	IndexDamaged   IndexState = "damaged"   // some answers are wrong or missing
	IndexLost      IndexState = "lost"      // the files are gone and the queue is purged
	IndexDangerous IndexState = "dangerous" // opening it may crash the reader or destroy vectors
)

// Wing counts the drawers of one wing. Name is nil where none is recorded and
// "" where an empty one is.
type Wing struct {
	Name *string `json:"name"`
	Rows int64   `json:"rows"`
}

// Lock is the state of the palace lock as the kernel tells it.
type Lock struct {
	State  string  `json:"state"`
	Path   *string `json:"path"`
	Holder *Holder `json:"holder"`
	// LastHolder is what the lock file still says of whoever held it last.
	LastHolder *LastHolder `json:"last_holder"`
}

// LastHolder is the identity that a past holder left in the lock file.
type LastHolder struct {
	PID     *int   `json:"pid"`
	Command string `json:"command"`
	Alive   *bool  `json:"alive"`
}

// Holder is the process that has the palace lock.
type Holder struct {
	PID         *int     `json:"pid"`
	Command     *string  `json:"command"`
	Started     *string  `json:"started"`
	Role        *string  `json:"role"`
	IdleSeconds *float64 `json:"idle_seconds"`
	Orphan      *bool    `json:"orphan"`
	Identity    string   `json:"identity"`
	// CPUPercent and Parents are for people; scripts may ignore them.
	CPUPercent *float64 `json:"cpu_percent,omitempty"`
	Parents    []string `json:"parents,omitempty"`
}

// Opener is a process that has files of the palace open.
type Opener struct {
	PID     int      `json:"pid"`
	Command string   `json:"command"`
	Files   []string `json:"files"`
	Note    string   `json:"note"`
}

// CheckedWith says with what and how thoroughly the palace was looked at.
type CheckedWith struct {
	Castellan string `json:"castellan"`
	SQLite    string `json:"sqlite"`
	Depth     Depth  `json:"depth"`
	// NotDone names, in full depth, what was not looked at all the same.
	NotDone []string `json:"not_done,omitempty"`
}

// Depth is how thoroughly a palace is looked at.
type Depth string

// The depths: Sampled for status and every refresh, Full for the doctor.
const (
	Sampled Depth = "sampled"
	Full    Depth = "full"
)

// Error is the machine-readable form of a failure.
type Error struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Subject string `json:"subject"`
	Next    string `json:"next"`
}

// Since renders a start time the way reports do; zero gives nil.
func Since(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format(time.RFC3339)
	return &s
}
