package dbfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestEveryErrorNamesItsSubjectAndANextStep, the latter after the semicolon.
func TestEveryErrorNamesItsSubjectAndANextStep(t *testing.T) {
	const path = "/palace/chroma.sqlite3"
	var all []error
	for problem := range problemWords {
		all = append(all, &FileError{Path: path, Problem: problem, Detail: "as seen", Err: fs.ErrInvalid})
	}
	if len(problemNext) != len(problemWords) {
		t.Error("a problem has no next step")
	}
	for _, code := range []int{5, 6, 11, 779, 267, 1032, 8, 26, 10, 522, 14, 13, 7} {
		all = append(all, &SQLError{Path: path, Doing: "reading", Code: code, Err: errors.New("what SQLite says")})
	}
	all = append(all,
		&StaleError{Path: path, Reason: "it was written to"},
		&HotJournalError{Path: path, Bytes: 5, Limit: 4},
		&UnreadWALError{Path: path, Frames: 3, Bytes: 5, Limit: 4},
		&ColumnError{Path: path, Column: "created_at", Declared: "TIMESTAMP"})
	for _, err := range all {
		text := err.Error()
		if subject, next, ok := strings.Cut(text, "; "); !ok || !strings.Contains(subject, path) || len(next) < 10 {
			t.Errorf("%T: %s", err, text)
		}
	}
}

func TestCodesMatchTheirSentinels(t *testing.T) {
	for code, want := range map[int]error{
		5: ErrBusy, 261: ErrBusy, 6: ErrBusy, 11: ErrCorrupt, 779: ErrCorrupt, 267: ErrCorrupt, 26: ErrNotDatabase,
		10: ErrIO, 522: ErrIO, 14: ErrIO, 1032: ErrMoved, 8: ErrWrite, 13: ErrFull,
	} {
		cause := errors.New("cause")
		err := fmt.Errorf("outer: %w", &SQLError{Path: "p", Code: code, Err: cause})
		if !errors.Is(err, want) || !errors.Is(err, cause) {
			t.Errorf("%d does not match %v", code, want)
		}
		for _, other := range []error{ErrBusy, ErrCorrupt, ErrNotDatabase, ErrIO, ErrMoved, ErrWrite, ErrFull, ErrClosed} {
			if other != want && errors.Is(err, other) {
				t.Errorf("%d matches %v as well", code, other)
			}
		}
	}
}

// TestAPathTooLongForSQLiteSaysSo: SQLite takes 512 bytes, the system eight times that.
func TestAPathTooLongForSQLiteSaysSo(t *testing.T) {
	dir := t.TempDir()
	build(t, filepath.Join(dir, "short"), 3)
	for len(dir) < 600 {
		dir = filepath.Join(dir, strings.Repeat("d", 100))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(dir, "chroma.sqlite3")
	short := strings.SplitN(path, "/ddd", 2)[0]
	if err := os.Rename(filepath.Join(short, "short"), path); err != nil {
		t.Skip(err)
	}
	if facts, err := Inspect(t.Context(), path); err != nil || facts.PageSize != 4096 {
		t.Errorf("Inspect: %v", err)
	}
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, ErrIO) || !strings.Contains(err.Error(), "512 bytes") {
		t.Errorf("Open: %v", err)
	}
}

func TestClassifyKeepsWhatTheSystemSaid(t *testing.T) {
	for cause, want := range map[error]Problem{
		syscall.ELOOP: LinkLoop, syscall.EACCES: Denied, syscall.ENOENT: Missing, syscall.ENOTDIR: Missing, syscall.EIO: Unreadable,
	} {
		err := classify("/p", &fs.PathError{Op: "open", Path: "/p", Err: cause})
		var e *FileError
		if !errors.As(err, &e) || e.Problem != want || !errors.Is(err, cause) {
			t.Errorf("%v became %v", cause, err)
		}
	}
	if err := wrap("/p", "reading", context.Canceled); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "/p") {
		t.Errorf("got %v", err)
	}
}
