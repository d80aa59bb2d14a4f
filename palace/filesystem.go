package palace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// unsafeNotes say why SQLite's locks or the palace's files cannot be trusted
// at dir: network file systems lose locks, and folders that a program
// synchronises get half-written files and "conflicted copies".
func unsafeNotes(dir, fstype string) []Note {
	var notes []Note
	if fstype != "" {
		notes = append(notes, Note{Kind: NoteUnsafe, Path: dir, Text: fmt.Sprintf(
			"%s lies on a %s file system, where file locks may not hold; keep the palace on a local disk", dir, fstype)})
	}
	if root, service := syncedBy(dir); service != "" {
		notes = append(notes, Note{Kind: NoteUnsafe, Path: dir, Text: fmt.Sprintf(
			"%s lies in a folder that %s synchronises (%s), which copies files while they are written; move the palace out of it", dir, service, root)})
	}
	return notes
}

// syncedBy finds the folder above dir, or dir itself, that a synchronising
// program looks after: by the marker it leaves there, or by its usual name.
func syncedBy(dir string) (root, service string) {
	for p := dir; ; p = filepath.Dir(p) {
		for _, m := range []struct{ file, service string }{
			{".stfolder", "Syncthing"},
			{".dropbox", "Dropbox"},
			{".dropbox.cache", "Dropbox"},
			{".nextcloudsync.log", "Nextcloud"},
			{".owncloudsync.log", "ownCloud"},
		} {
			if _, err := os.Lstat(filepath.Join(p, m.file)); err == nil {
				return p, m.service
			}
		}
		if s := syncName(p); s != "" {
			return p, s
		}
		if p == filepath.Dir(p) {
			return "", ""
		}
	}
}

// syncName knows the folders by their names: "OneDrive - Company",
// "Dropbox (Personal)", and what macOS keeps under Library.
func syncName(p string) string {
	name, parent := filepath.Base(p), filepath.Base(filepath.Dir(p))
	begins := func(word string) bool {
		return name == word || strings.HasPrefix(name, word+" ") || strings.HasPrefix(name, word+"-")
	}
	switch {
	case parent == "Mobile Documents" && filepath.Base(filepath.Dir(filepath.Dir(p))) == "Library":
		return "iCloud Drive"
	case begins("Dropbox"):
		return "Dropbox"
	case begins("OneDrive"):
		return "OneDrive"
	case name == "Google Drive", begins("GoogleDrive"), name == "My Drive":
		return "Google Drive"
	case name == "iCloudDrive", name == "iCloud Drive":
		return "iCloud Drive"
	case parent == "CloudStorage" && filepath.Base(filepath.Dir(filepath.Dir(p))) == "Library":
		return name
	}
	return ""
}
