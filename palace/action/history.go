package action

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// What is read of a log, in bytes: enough of both ends to list it, and the last
// part of a transcript. A log has no bound of its own, since nothing a run says
// is dropped.
const (
	headBytes       = maxHeader + 4<<10
	tailBytes       = 64 << 10
	transcriptBytes = 8 << 20
)

// Record is one run of the past, or of now.
type Record struct {
	ID     ID
	Title  string
	Palace string
	PID    int // of its process
	Plan   Plan
	// State is StateUnfinished where the log has no end: look at PID.
	State State
	// Ended is zero when no end is known.
	Started, Ended time.Time
	Summary        string
	Err            error // of an earlier process, the text alone is left
	// Damaged: the log's beginning cannot be read, and the record shows what can.
	Damaged bool
}

// History lists the runs that are known, the newest first: those of this
// process, and those of which logs are kept. The error names logs that could
// not be read at all; the rest are listed.
func (r *Runner) History(ctx context.Context) ([]Record, error) {
	var list []Record
	own := map[ID]bool{}
	for _, run := range r.known() {
		own[run.id] = true
		list = append(list, recordOf(run.Snapshot()))
	}
	ids, err := r.logged()
	errs := []error{err}
	for _, id := range ids[:min(maxLogs, len(ids))] {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if own[id] {
			continue
		}
		rec, err := readRecord(r.dir, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // rotated meanwhile
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, rec)
	}
	slices.SortStableFunc(list, func(a, b Record) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID))
	})
	return list, errors.Join(errs...)
}

func (r *Runner) logged() ([]ID, error) {
	if r.dir == "" {
		return nil, nil
	}
	return logs(r.dir)
}

func recordOf(s Snapshot) Record {
	return Record{
		ID: s.ID, Title: s.Plan.Title, Palace: s.Subject.Palace, PID: os.Getpid(), Plan: s.Plan,
		State: s.State, Started: s.Started, Ended: s.Ended, Summary: s.Result.Summary, Err: s.Err,
	}
}

// Transcript is what one run said.
type Transcript struct {
	Record
	Events []Event
	// Skipped is how many bytes at the beginning of a very long log were passed
	// over, Unread how many lines after them made no sense.
	Skipped int64
	Unread  int
}

// Transcript gives what a run of History has said, of a log the last part. It
// fails with an *UnknownRunError when the run is none of those.
func (r *Runner) Transcript(ctx context.Context, id ID) (Transcript, error) {
	if run := r.Run(id); run != nil {
		events, _ := run.keptFrom(0)
		return Transcript{Record: recordOf(run.Snapshot()), Events: events}, nil
	}
	if r.dir == "" || !id.valid() {
		return Transcript{}, &UnknownRunError{Run: id}
	}
	rec, err := readRecord(r.dir, id)
	if err != nil {
		return Transcript{}, unknown(id, err)
	}
	t := Transcript{Record: rec}
	part, skipped, err := readEnd(r.dir, id, transcriptBytes)
	if err != nil {
		return Transcript{}, unknown(id, err)
	}
	if t.Skipped = skipped; skipped > 0 {
		_, part, _ = bytes.Cut(part, []byte("\n")) // the rest of a line
	}
	for b := range bytes.Lines(part) {
		if ctx.Err() != nil {
			return Transcript{}, context.Cause(ctx)
		}
		l, ok := parse(b)
		if ok && l.Event == "started" {
			continue
		}
		d := l.detail()
		if !ok || d == nil {
			t.Unread++
			continue
		}
		t.Events = append(t.Events, Event{Run: id, At: l.At, Detail: d})
	}
	return t, nil
}

func unknown(id ID, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &UnknownRunError{Run: id, Err: err}
	}
	return err
}

// readRecord reads both ends of a log.
func readRecord(dir string, id ID) (Record, error) {
	rec := Record{ID: id, Started: id.time(), State: StateUnfinished}
	head, err := readHead(dir, id, headBytes)
	if err != nil {
		return Record{}, err
	}
	first, _, _ := bytes.Cut(head, []byte("\n"))
	if l, ok := parse(first); ok && l.Event == "started" && l.Run == id {
		rec.Title, rec.Palace, rec.PID, rec.Started = l.Title, l.Palace, l.PID, l.At
		if l.Plan != nil {
			rec.Plan = *l.Plan
		}
		rec.Plan.Title = l.Title
	} else {
		rec.Damaged = true
	}
	tail, _, err := readEnd(dir, id, tailBytes)
	if err != nil {
		return Record{}, err
	}
	for b := range bytes.Lines(tail) {
		l, ok := parse(b)
		if f, end := l.detail().(Finished); ok && end {
			rec.State, rec.Ended, rec.Summary, rec.Err = f.State, l.At, f.Result.Summary, f.Err
		}
	}
	return rec, nil
}

// readHead reads the first bytes of a log, at most n.
func readHead(dir string, id ID, n int64) ([]byte, error) {
	f, _, err := openLog(dir, id)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// readEnd reads the last bytes of a log, at most n, and says how many lie
// before them.
func readEnd(dir string, id ID, n int64) (part []byte, skipped int64, err error) {
	f, size, err := openLog(dir, id)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	skipped = max(0, size-n)
	part, err = io.ReadAll(io.NewSectionReader(f, skipped, n))
	return part, skipped, err
}

func openLog(dir string, id ID) (*os.File, int64, error) {
	path := logPath(dir, id)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, 0, err
	}
	// Opening a pipe would wait for its other end.
	if !info.Mode().IsRegular() {
		return nil, 0, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file; remove it")}
	}
	f, err := os.Open(path)
	return f, info.Size(), err
}
