package health

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"castellan/palace"
	"castellan/palace/dbfile"
)

// siteFindings speaks of where a palace lies and of what could not be reached.
func siteFindings(s *palace.Site) []Finding {
	var out []Finding
	if f, ok := errorFinding(s.Ref.Path, s.Err); ok {
		out = append(out, f)
	}
	for _, n := range s.Notes {
		switch n.Kind {
		case palace.NoteUnsafe:
			out = append(out, Finding{
				Code: UnsafeFilesystem, Severity: Warning, Subject: s.Ref.Path, Cause: n.Text,
				Evidence: map[string]any{"path": n.Path, "file_system": s.FileSystem},
				Remedy:   &Remedy{Reason: "locks may not hold there and files may be replaced under a writer; keep palaces on a local disk"},
			})
		case palace.NoteReadOnly:
			out = append(out, Finding{
				Code: ReadOnly, Severity: Info, Subject: s.Ref.Path, Cause: n.Text,
				Evidence: map[string]any{"path": n.Path}, Remedy: nil,
			})
		case palace.NoteConfig:
			out = append(out, configFinding(n))
		case palace.NoteUnreadablePart:
			out = append(out, Finding{
				Code: PermissionDenied, Severity: Warning, Subject: s.Ref.Path, Cause: n.Text,
				Evidence: map[string]any{"path": n.Path}, Remedy: &Remedy{Reason: "what cannot be read is not judged"},
			})
		}
	}
	return out
}

func configFinding(n palace.Note) Finding {
	return Finding{
		Code: ConfigUnreadable, Severity: Warning, Subject: n.Path, Cause: n.Text,
		Evidence: map[string]any{"file": n.Path},
		Remedy:   &Remedy{Reason: "MemPalace falls back to its defaults, which may mean another palace and another embedding model"},
	}
}

// errorFinding turns what kept a palace from being read into a finding. The
// same states are never called empty or missing: a palace nobody may read is
// not a palace without drawers.
func errorFinding(path string, err error) (Finding, bool) {
	var denied *palace.NotPermittedError
	var empty *palace.EmptyDatabaseError
	var notDB *palace.NotADatabaseError
	var file *dbfile.FileError
	var hot *dbfile.HotJournalError
	var wal *dbfile.UnreadWALError
	f := Finding{Subject: path, Severity: Bad, Evidence: map[string]any{}}
	if err != nil {
		f.Cause = err.Error()
	}
	switch {
	case err == nil:
		return f, false
	case errors.As(err, &denied):
		f.Code = PermissionDenied
		f.Evidence = map[string]any{"path": denied.Path, "owner": denied.Owner, "group": denied.Group, "mode": fmt.Sprintf("%04o", denied.Mode.Perm())}
		f.Remedy = &Remedy{Reason: "run as the owner or ask them for access; nothing can be said of a palace that may not be read"}
	case errors.As(err, &empty):
		f.Code, f.Severity = DatabaseEmpty, Danger
		f.Evidence = map[string]any{"file": empty.Path, "segments": len(empty.Segments), "vectors": vectorsBeside(path, empty.Segments)}
		f.Remedy = &Remedy{Reason: "Chroma and MemPalace would silently start a new, empty palace in it; put a backup of the file back first"}
	case errors.As(err, &notDB):
		f.Code, f.Severity = NotADatabase, Danger
		f.Evidence = map[string]any{"file": notDB.Path, "segments": len(notDB.Segments), "vectors": vectorsBeside(path, notDB.Segments)}
		f.Remedy = &Remedy{Reason: "the start of the file was overwritten; put a backup back. The index directories beside it still hold the vectors"}
	case errors.As(err, &hot):
		f.Code, f.Severity = HotJournal, Warning
		f.Remedy = &Remedy{Reason: "let the program that owns the palace open it once, or free space for a private copy"}
	case errors.As(err, &wal):
		f.Code, f.Severity = WALUnread, Warning
		f.Remedy = &Remedy{Reason: "let the program that owns the palace open it once, or free space for a private copy"}
	case errors.As(err, &file):
		f.Evidence = map[string]any{"file": file.Path, "problem": string(file.Problem)}
		f.Remedy = &Remedy{Reason: file.Next()}
		switch file.Problem {
		case dbfile.Denied:
			f.Code = PermissionDenied
		case dbfile.Empty:
			f.Code, f.Severity = DatabaseEmpty, Danger
		case dbfile.NotDatabase, dbfile.Truncated:
			f.Code, f.Severity = NotADatabase, Danger
		default:
			return f, false
		}
	case errors.Is(err, dbfile.ErrNotDatabase):
		f.Code, f.Severity = NotADatabase, Danger
		f.Remedy = &Remedy{Reason: "put a backup of the file back"}
	case errors.Is(err, dbfile.ErrCorrupt):
		f.Code, f.Severity = BtreeDamaged, Danger
		f.Remedy = &Remedy{Mode: "from-sqlite", Reason: "what can still be read belongs in a new palace"}
	case errors.Is(err, fs.ErrPermission):
		f.Code = PermissionDenied
	default:
		return f, false
	}
	return f, true
}

// errorDocument is the machine-readable form of what kept a palace from being
// read.
func errorDocument(path string, state State, err error) *Error {
	if err == nil {
		return nil
	}
	e := &Error{Kind: string(state), Message: err.Error(), Subject: path}
	var denied *palace.NotPermittedError
	var gone *palace.NotFoundError
	switch {
	case errors.As(err, &gone):
		e.Kind, e.Next = "missing", "check the spelling, or create it with mempalace init"
	case errors.As(err, &denied), errors.Is(err, fs.ErrPermission):
		e.Kind, e.Next = "permission-denied", "run as the owner, or ask them for access"
	}
	if e.Next == "" {
		if i := strings.LastIndex(e.Message, "; "); i >= 0 {
			e.Next = e.Message[i+2:]
		}
	}
	// Errors end in their next step; here it has a field of its own.
	e.Message = strings.TrimSuffix(e.Message, "; "+e.Next)
	return e
}

// vectorsBeside counts what the index directories of a palace hold, by their
// headers: the database that would say more cannot be read.
func vectorsBeside(palace string, segments []string) int64 {
	var n int64
	for _, dir := range segments {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(palace, dir)
		}
		n += deref(holdingOf(context.Background(), dir, Sampled).vectors)
	}
	return n
}
