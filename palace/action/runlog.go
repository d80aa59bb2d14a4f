package action

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxLogs is how many logs are kept; the oldest go first.
	maxLogs = 50
	logExt  = ".jsonl"
	// batchBytes is how much is gathered before it is written.
	batchBytes = 64 << 10
)

// keepLog writes the run's log, beside the run: a disk that is full, slow or
// dead costs the log and never the run.
func (r *Runner) keepLog(run *Run) {
	err := r.writeLog(run)
	if err == nil {
		return
	}
	run.mu.Lock()
	run.unlogged = fmt.Errorf("the log of run %s is not kept, or not all of it: %w", run.id, err)
	run.mu.Unlock()
	run.say(Log{LevelWarn, run.unlogged.Error()})
}

func (r *Runner) writeLog(run *Run) (err error) {
	f, err := createLog(r.dir, run.id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := r.rotate(); err != nil {
		run.say(Log{LevelWarn, fmt.Sprintf("old run logs could not be removed: %v", err)})
	}
	var b bytes.Buffer
	if err := header(run.Snapshot(), os.Getpid()).appendTo(&b); err != nil {
		return err
	}
	for next := 0; ; {
		events, more := run.keptFrom(next)
		next += len(events)
		for _, e := range events {
			if err := lineOf(e).appendTo(&b); err != nil {
				return err
			}
			if b.Len() >= batchBytes {
				if err := flush(f, &b); err != nil {
					return err
				}
			}
		}
		if err := flush(f, &b); err != nil {
			return err
		}
		if len(events) == 0 {
			if more == nil {
				return nil
			}
			<-more // a run always ends, and says so
		}
	}
}

// flush writes whole lines, so that a log that is cut short by the end of the
// process is cut between two.
func flush(f *os.File, b *bytes.Buffer) error {
	if b.Len() == 0 {
		return nil
	}
	defer b.Reset()
	_, err := f.Write(b.Bytes())
	return err
}

// keptFrom is what was kept after the first n events; where that is nothing,
// more is closed with the next, and nil when there is none to come.
func (r *Run) keptFrom(n int) (events []Event, more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events = r.kept[n:len(r.kept):len(r.kept)]
	if len(events) == 0 && r.finished == nil {
		more = waitOn(&r.wakeKept)
	}
	return events, more
}

// createLog makes the file, for this user only: it quotes drawers and names
// sources.
func createLog(dir string, id ID) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	// The directory may be older than this rule.
	if info, err := os.Lstat(dir); err == nil && info.IsDir() && info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(logPath(dir, id), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

func logPath(dir string, id ID) string { return filepath.Join(dir, string(id)+logExt) }

// rotate removes the oldest logs beyond maxLogs, but none that this process
// still writes, which a clock set back could make the oldest.
func (r *Runner) rotate() error {
	ids, err := logs(r.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids[min(maxLogs, len(ids)):] {
		if run := r.Run(id); run != nil && !run.isIdle() {
			continue
		}
		// Another process may be quicker.
		if err := os.Remove(logPath(r.dir, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// logs lists the logs in dir, the newest first.
func logs(dir string) ([]ID, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []ID
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), logExt)
		if id := ID(name); ok && id.valid() && e.Type().IsRegular() {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b ID) int { return cmp.Compare(b, a) })
	return ids, nil
}
