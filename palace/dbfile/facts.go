package dbfile

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"time"
)

// Facts are what can be said about a database without asking SQLite.
type Facts struct {
	Path      string // as given
	RealPath  string // links resolved; the sidecars lie beside it
	ID        FileID
	Size      int64 // bytes
	Allocated int64 // bytes on disk; less than Size when the file has holes
	Modified  time.Time
	Header

	WAL, SHM, Journal Sidecar
	JournalState      JournalState
	Hot               bool // JournalState is HotJournal

	// WALFrames counts the frames, up to the last commit, of a log whose -shm is missing, so that no reader can see
	// them without recovering it. 0 if there are none, or if -shm is there.
	WALFrames int

	stamp     Stamp
	soundLog  bool  // the log has a valid header
	deserted  bool  // the log is bare, and nobody has its index open
	hotExtent int64 // bytes the database has after a rollback, as the journal claims
}

// Sidecar is a file beside the database.
type Sidecar struct {
	Present bool
	Size    int64 // bytes
}

// Partial reports that exactly one of -wal and -shm is there: the remains of a crash, a copy or a cleaning up. A
// program that insists on complete pairs, as MemPalace's exact backend does, refuses to read such a database.
func (f Facts) Partial() bool { return f.WAL.Present != f.SHM.Present }

// Pages is the length of the database in pages: the header's count if the header says that it holds, else what
// the size comes to.
func (f Facts) Pages() int64 {
	if f.PageCount != 0 && f.ChangeCounter == f.ValidFor {
		return int64(f.PageCount)
	}
	if f.PageSize == 0 {
		return 0
	}
	return f.Size / int64(f.PageSize)
}

// MissingBytes is how much the file is shorter than its header promises; 0 if it is all there.
func (f Facts) MissingBytes() int64 {
	return max(0, f.Pages()*int64(f.PageSize)-f.Size)
}

// Inspect looks at the database at path without SQLite: its header, its sidecars, whether a journal is hot or a log
// unread. It takes no lock, and drops none that a connection of this process holds. With a [*FileError] that
// speaks of the content (Empty, Truncated, NotDatabase) the facts are filled in as far as they are known.
func Inspect(ctx context.Context, path string) (Facts, error) {
	f, facts, err := look(ctx, path)
	if f != nil {
		open.release(f)
	}
	return facts, err
}

// look is Inspect, but leaves the file acquired if it could be opened at all, whatever the error.
func look(ctx context.Context, path string) (*file, Facts, error) {
	facts := Facts{Path: path}
	if err := ctx.Err(); err != nil {
		return nil, facts, fmt.Errorf("looking at %q: %w", path, err)
	}
	p, err := locate(path)
	if err != nil {
		return nil, facts, err
	}
	f, err := open.acquire(p)
	if err != nil {
		return nil, facts, err
	}
	facts.RealPath, facts.ID = p.real, f.id
	parts, err := beside(p.real)
	if err != nil {
		return f, facts, err
	}
	info, err := f.raw.Stat()
	if err != nil {
		return f, facts, classify(path, err)
	}
	p.info, p.id = info, f.id
	facts.Size, facts.Allocated, facts.Modified = info.Size(), allocated(p.real, info), info.ModTime()
	facts.WAL, facts.SHM, facts.Journal = sidecarOf(parts.wal), sidecarOf(parts.shm), sidecarOf(parts.journal)
	if facts.stamp, err = stampOf(p, parts); err != nil {
		return f, facts, err
	}

	if facts.WAL.Size > 0 {
		log, err := readLog(ctx, p.real+"-wal", !facts.SHM.Present)
		if err != nil {
			return f, facts, err
		}
		facts.WALFrames, facts.soundLog = log.frames, log.sound
		facts.deserted = facts.SHM.Present && f.deserted(p.real, parts)
	}
	j, err := f.journalOf(p.real)
	if err != nil {
		return f, facts, err
	}
	facts.JournalState, facts.Hot = j.state, j.state == HotJournal
	if facts.Hot {
		facts.hotExtent = j.pages * min(j.page, math.MaxUint16+1)
	}
	return f, facts, facts.readHeader(f)
}

func (f *Facts) readHeader(from *file) error {
	if f.Size == 0 {
		return &FileError{Path: f.Path, Problem: Empty}
	}
	b := make([]byte, headerSize)
	n, err := from.raw.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return classify(f.Path, err)
	}
	header, problem, detail := parseHeader(b[:n])
	if problem != "" {
		return &FileError{Path: f.Path, Problem: problem, Detail: detail}
	}
	f.Header = header
	if f.Size < int64(header.PageSize) {
		detail := fmt.Sprintf("%d bytes, a page has %d", f.Size, header.PageSize)
		return &FileError{Path: f.Path, Problem: Truncated, Detail: detail}
	}
	return nil
}

func sidecarOf(info fs.FileInfo) Sidecar {
	return Sidecar{Present: info != nil, Size: sizeOf(info)}
}
