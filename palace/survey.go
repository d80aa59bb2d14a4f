package palace

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// maxEntries bounds how many names in a palace directory are looked at.
// Quarantined segments pile up, but not by the thousand.
const maxEntries = 10_000

// survey finds out what the path is and what lies in it. It reports whether
// there is a directory to go on with.
func (s *Site) survey(ctx context.Context) bool {
	info, err := os.Stat(s.Ref.Path)
	if err != nil {
		s.fail(explain(s.Ref.Path, err))
		return false
	}
	if !info.IsDir() {
		s.fail(&WrongKindError{Path: s.Ref.Path, Want: "a directory", Got: kindName(info.Mode())})
		return false
	}
	dir, err := os.OpenFile(s.Ref.Path, os.O_RDONLY|openNonBlocking, 0)
	if err != nil {
		s.fail(explain(s.Ref.Path, err))
		return false
	}
	defer dir.Close()
	for n := 0; n < maxEntries; {
		entries, err := dir.ReadDir(256)
		n += len(entries)
		for _, e := range entries {
			s.sort(e)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.fail(&ReadError{Path: s.Ref.Path, Err: err})
			return false
		}
		if ctx.Err() != nil || n >= maxEntries {
			s.note(NoteIncomplete, s.Ref.Path, ctx.Err(), "%s has more entries than were looked at", s.Ref.Path)
			break
		}
	}
	s.Artifacts = artifactsIn(ctx, s.Ref.Path)
	s.Aliases = bindAliases(s.Ref.Real)
	s.Layout.Embedders, s.Layout.EmbeddersErr = readEmbedders(s.Ref.Path)
	return true
}

func (s *Site) fail(err error) {
	s.Err = err
	var gone *NotFoundError
	if errors.As(err, &gone) {
		s.State = Missing
	}
}

// sort puts one entry of the directory where it belongs; sizes follow later.
func (s *Site) sort(e os.DirEntry) {
	l, name := &s.Layout, e.Name()
	file := File{Path: filepath.Join(s.Ref.Path, name)}
	if info, err := e.Info(); err == nil {
		file.ModTime = info.ModTime()
	}
	if isArtifact(name) {
		return
	}
	if e.IsDir() {
		if segmentName.MatchString(name) {
			l.Segments = append(l.Segments, Segment{File: file, ID: name})
			return
		}
		if strings.HasPrefix(name, RepairDir) {
			l.Unfinished = append(l.Unfinished, file.Path)
			return
		}
		if m := quarantineName.FindStringSubmatch(name); m != nil {
			l.Quarantined = append(l.Quarantined, Quarantined{File: file, Segment: m[1], Reason: m[2], At: stampIn(m[3])})
			return
		}
	}
	if kind, at, ok := databaseBackup(name); ok {
		l.Backups = append(l.Backups, Backup{File: file, Kind: kind, At: at})
		return
	}
	if side, ok := sidecarName(name); ok {
		l.Sidecars = append(l.Sidecars, Sidecar{File: file, Name: side})
		return
	}
	switch name {
	case ".blob_seq_ids_migrated", ".collection_type_fixed":
		l.Markers = append(l.Markers, name)
	case "corrupt_ids.txt":
		l.CorruptIDs = &file
	default:
		l.Others++
	}
}

// isArtifact also knows the files that SQLite keeps beside a database.
func isArtifact(name string) bool {
	for _, f := range artifactFiles {
		rest, ok := strings.CutPrefix(name, f.name)
		if ok && slices.Contains([]string{"", "-wal", "-shm", "-journal"}, rest) {
			return true
		}
	}
	return false
}

// judge decides state and engine from the artifacts.
func (s *Site) judge() {
	var good, bad []*Artifact
	for i := range s.Artifacts {
		if a := &s.Artifacts[i]; a.Err == nil {
			good = append(good, a)
		} else {
			bad = append(bad, a)
		}
	}
	switch {
	case len(good) > 0:
		s.State, s.Ref.Kind = OK, good[0].Kind
		s.severalKinds(good)
		for _, a := range bad {
			if problemOf(a.Err) != dbfile.Empty || len(s.Layout.Segments) > 0 && a.Kind == backend.Chroma {
				s.note(NoteUnreadablePart, a.Path, s.artifactError(a), "%v", s.artifactError(a))
			}
		}
	case len(bad) > 0:
		s.judgeBad(bad)
	case len(s.Layout.Segments) > 0:
		s.Err = &EmptyDatabaseError{Path: filepath.Join(s.Ref.Path, chromaFile), Absent: true, Segments: s.segmentPaths()}
		s.Ref.Kind = backend.Chroma
	default:
		s.State = Empty
	}
}

// judgeBad is for a directory none of whose artifacts counts. An empty file
// with nothing around it is what a bare connect leaves behind; everything
// else stands for a palace that cannot be read.
func (s *Site) judgeBad(bad []*Artifact) {
	for _, a := range bad {
		if problemOf(a.Err) == dbfile.Empty && len(s.Layout.Segments) == 0 {
			continue
		}
		s.Err, s.Ref.Kind = s.artifactError(a), a.Kind
		return
	}
	s.State = Empty
	s.note(NoteNeverUsed, bad[0].Path, bad[0].Err,
		"%s has 0 bytes and no segments lie beside it: it was never used", bad[0].Path)
}

// artifactError puts what lies around a database into what is wrong with it.
func (s *Site) artifactError(a *Artifact) error {
	switch problemOf(a.Err) {
	case dbfile.Empty:
		return &EmptyDatabaseError{Path: a.Path, Segments: s.segmentPaths()}
	case dbfile.NotDatabase, dbfile.Truncated:
		return &NotADatabaseError{Path: a.Path, Segments: s.segmentPaths(), Err: a.Err}
	case dbfile.Denied:
		return notPermitted(a.Path, a.Err)
	case dbfile.DanglingLink, dbfile.LinkLoop, dbfile.Missing:
		if _, err := os.Stat(a.Path); err != nil {
			return explain(a.Path, err)
		}
	}
	return a.Err
}

func (s *Site) segmentPaths() []string {
	list := make([]string, len(s.Layout.Segments))
	for i, seg := range s.Layout.Segments {
		list[i] = seg.Path
	}
	return sorted(list)
}

// severalKinds points out databases of two engines; qdrant's marker and a
// database that is not in use any more are the usual remains of a migration.
func (s *Site) severalKinds(good []*Artifact) {
	var kinds []backend.Kind
	var files []string
	for _, a := range good {
		if !slices.Contains(kinds, a.Kind) {
			kinds = append(kinds, a.Kind)
			files = append(files, filepath.Base(a.Path))
		}
	}
	if len(kinds) > 1 {
		err := &TwoBackendsError{Path: s.Ref.Path, Files: files}
		s.note(NoteTwoBackends, s.Ref.Path, err, "%v", err)
	}
}
