package palace

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Layout is what lies in and beside a palace directory, by the names that
// MemPalace and Chroma give.
type Layout struct {
	// Segments are the directories with a segment's name. Which of them a
	// collection still uses only the database knows.
	Segments []Segment
	// Quarantined are segments that MemPalace has put aside. It never deletes
	// them.
	Quarantined []Quarantined
	// Markers are the empty files by which MemPalace remembers a conversion.
	Markers []string
	// Backups are copies inside and beside the palace.
	Backups []Backup
	// Sidecars are MemPalace's further files, inside and beside the palace.
	Sidecars []Sidecar
	// Embedders are the models recorded in mempalace_embedder.json, by
	// collection, and EmbeddersErr is why the file cannot be used.
	Embedders    map[string]Embedder
	EmbeddersErr error
	// CorruptIDs is the list that "mempalace repair scan" left, if any.
	CorruptIDs *File
	// Unfinished are directories in which a repair of Castellan's was building
	// when it was cut short.
	Unfinished []string
	// Others counts entries of the directory that none of this describes.
	Others int
}

// File is a file or a directory with its size.
type File struct {
	Path    string
	Size    Size
	ModTime time.Time
}

// Segment is a directory of index files.
type Segment struct {
	File
	// ID is the directory's name.
	ID string
	// Files are the sizes of what is directly in it, by name.
	Files map[string]Size
}

// Quarantined is a segment directory under the name it was put aside with:
// <uuid>.drift-<time> because it disagreed with the database, or
// <uuid>.corrupt-<time> because its metadata could not be read.
type Quarantined struct {
	File
	Segment, Reason string
	// At is the time in the name, which is local time; zero when it is none.
	At time.Time
}

// Backup is a copy of a palace or of its database.
type Backup struct {
	File
	Kind BackupKind
	// At is the time in the name; zero when the name has none.
	At time.Time
}

// BackupKind says which operation left a copy.
type BackupKind string

// The kinds of copies; all but the last are MemPalace's.
const (
	BackupRepair   BackupKind = "repair"      // <palace>.backup, chroma.sqlite3.backup
	BackupRebuild  BackupKind = "pre-rebuild" // <palace>.pre-rebuild-<time>
	BackupMigrate  BackupKind = "pre-migrate" // <palace>.pre-migrate.<time>
	BackupSwap     BackupKind = "old"         // <palace>.old, there only while a swap is under way
	BackupMaxSeqID BackupKind = "max-seq-id"  // chroma.sqlite3.max-seq-id-backup-<time>
	// BackupCastellan is Castellan's own: <palace>.castellan-backup-<time>.
	BackupCastellan BackupKind = "castellan"
)

const uuidPattern = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`

var (
	segmentName    = regexp.MustCompile(`^` + uuidPattern + `$`)
	quarantineName = regexp.MustCompile(`^(` + uuidPattern + `)\.(drift|corrupt)-(.*)$`)
)

// RepairDir begins the name of the directory in which a repair builds. Neither
// MemPalace nor Chroma look into one whose name begins with a dot.
const RepairDir = ".castellan-repair-"

// stampLayouts are the two ways in which MemPalace writes local time in names.
var stampLayouts = []string{"20060102-150405", "20060102_150405"}

// stampIn reads the time at the start of s; zero when there is none.
func stampIn(s string) time.Time {
	s = strings.TrimLeft(s, ".-_")
	for _, layout := range stampLayouts {
		if len(s) < len(layout) {
			continue
		}
		if t, err := time.ParseInLocation(layout, s[:len(layout)], time.Local); err == nil {
			return t
		}
	}
	return time.Time{}
}

// databaseBackup recognises copies of a database file inside a palace.
func databaseBackup(name string) (kind BackupKind, at time.Time, ok bool) {
	for _, db := range []string{chromaFile, exactFile} {
		rest, found := strings.CutPrefix(name, db+".")
		if !found {
			continue
		}
		if ts, found := strings.CutPrefix(rest, "max-seq-id-backup"); found {
			return BackupMaxSeqID, stampIn(ts), true
		}
		if ts, found := strings.CutPrefix(rest, "backup"); found {
			return BackupRepair, stampIn(ts), true
		}
	}
	return "", time.Time{}, false
}

// palaceBackup recognises a sibling of a palace as a copy of it; palace and
// name are base names.
func palaceBackup(palace, name string) (kind BackupKind, at time.Time, ok bool) {
	rest, found := strings.CutPrefix(name, palace+".")
	if !found {
		return "", time.Time{}, false
	}
	return backupSuffix(rest)
}

// backupSuffix judges what follows a palace's name and a dot.
func backupSuffix(rest string) (kind BackupKind, at time.Time, ok bool) {
	switch {
	case rest == "old":
		return BackupSwap, time.Time{}, true
	case rest == "backup":
		return BackupRepair, time.Time{}, true
	}
	for _, p := range []struct {
		prefix string
		kind   BackupKind
	}{{"pre-rebuild", BackupRebuild}, {"pre-migrate", BackupMigrate}, {"castellan-backup", BackupCastellan}, {"backup", BackupRepair}} {
		ts, found := strings.CutPrefix(rest, p.prefix)
		if found && (ts == "" || strings.ContainsRune(".-_", rune(ts[0]))) {
			return p.kind, stampIn(ts), true
		}
	}
	return "", time.Time{}, false
}

// originOfBackup gives the palace that a backup directory was copied from, by
// the name alone.
func originOfBackup(name string) (palace string, kind BackupKind, ok bool) {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] != '.' {
			continue
		}
		if kind, _, ok := backupSuffix(name[i+1:]); ok {
			return name[:i], kind, true
		}
	}
	return "", "", false
}

func (l *Layout) sort() {
	slices.SortFunc(l.Segments, func(a, b Segment) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(l.Quarantined, func(a, b Quarantined) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(l.Backups, func(a, b Backup) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(l.Sidecars, func(a, b Sidecar) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(l.Markers)
}
