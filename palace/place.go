package palace

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"castellan/palace/backend"
)

// place says what is special about where the palace lies.
func (s *Site) place(ctx context.Context) {
	dir := s.Ref.Path
	if s.Ref.Real != "" {
		dir = s.Ref.Real
	}
	s.FileSystem = remoteType(dir)
	s.Notes = append(s.Notes, unsafeNotes(dir, s.FileSystem)...)
	s.Notes = append(s.Notes, placement(ctx, s.Ref.Path)...)
	switch a := s.Artifact(); {
	case readOnlyMount(dir):
		s.readOnly(dir, "lies on a file system that is mounted read-only")
	case !writable(dir):
		s.readOnly(dir, "is a directory this user may not write to")
	case a != nil && a.Err == nil && s.Ref.Kind != backend.Unknown && !writable(a.Path):
		s.readOnly(a.Path, "is a file this user may not write to")
	}
}

func (s *Site) readOnly(path, why string) {
	s.ReadOnly = true
	s.note(NoteReadOnly, path, nil, "%s %s", path, why)
}

// placement finds the common slips of naming a palace: a "~" that nobody
// expanded, the directory above the palace, a directory inside it, a copy.
func placement(ctx context.Context, path string) []Note {
	var notes []Note
	add := func(kind NoteKind, related []string, format string, args ...any) {
		notes = append(notes, Note{Kind: kind, Path: path, Text: fmt.Sprintf(format, args...), Related: related})
	}
	if slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "~") {
		add(NoteLiteralTilde, nil, "%s goes through a directory that is really called \"~\"; some program did not expand it", path)
	}
	if palace, kind, ok := originOfBackup(filepath.Base(path)); ok {
		origin := filepath.Join(filepath.Dir(path), palace)
		add(NoteBackup, []string{origin}, "%s is a copy (%s) of %s", path, kind, origin)
	}
	if looksLikePalace(path) {
		return notes
	}
	if up := filepath.Dir(path); segmentDir(path) && looksLikePalace(up) {
		add(NoteTooDeep, []string{up}, "%s is a part of the palace %s; name that instead", path, up)
		return notes
	}
	if inside := palacesIn(ctx, path); len(inside) > 0 {
		add(NoteTooShallow, inside, "%s is no palace but holds %s; name that instead", path, strings.Join(inside, ", "))
	}
	return notes
}

func segmentDir(path string) bool {
	name := filepath.Base(path)
	return segmentName.MatchString(name) || quarantineName.MatchString(name)
}

// palacesIn lists the palaces directly in dir, without copies of palaces.
func palacesIn(ctx context.Context, dir string) []string {
	var list []string
	for _, name := range listSome(ctx, dir, maxSiblings) {
		if ctx.Err() != nil {
			break
		}
		if _, _, copied := originOfBackup(name); copied {
			continue
		}
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.IsDir() && looksLikePalace(p) {
			list = append(list, p)
		}
	}
	return list
}

// measure adds up the sizes of the palace and of what lies beside it. The
// palace comes first, so that a large copy beside it cannot use up the budget.
func (s *Site) measure(ctx context.Context) {
	w := newWalker(ctx)
	l := &s.Layout
	for i := range l.Segments {
		l.Segments[i].Files = w.filesIn(l.Segments[i].Path)
		l.Segments[i].Size = w.measure(l.Segments[i].Path)
	}
	for i := range l.Quarantined {
		l.Quarantined[i].Size = w.measure(l.Quarantined[i].Path)
	}
	for i := range l.Backups {
		l.Backups[i].Size = w.measure(l.Backups[i].Path)
	}
	for i := range l.Sidecars {
		l.Sidecars[i].Size = w.measure(l.Sidecars[i].Path)
	}
	if l.CorruptIDs != nil {
		l.CorruptIDs.Size = w.measure(l.CorruptIDs.Path)
	}
	// A link has no size of its own; what it leads to is what takes the disk.
	s.Size = w.measure(cmp.Or(s.Ref.Real, s.Ref.Path))
	cut := w.cut
	besidePalace(ctx, s.Ref.Path, l, w)
	if s.Ref.Real != "" && s.Ref.Real != s.Ref.Path {
		besidePalace(ctx, s.Ref.Real, l, w)
	}
	l.sort()
	if cut {
		s.note(NoteIncomplete, s.Ref.Path, ctx.Err(), "%s could not be measured completely: its size is at least what is shown", s.Ref.Path)
	}
}
