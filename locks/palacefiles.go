package locks

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxPalaceEntries bounds the walk through one palace. A palace has some ten
// files, and five more for each segment and each quarantined segment.
const maxPalaceEntries = 20_000

// fileID is a file's identity: no spelling of a path changes it.
type fileID struct{ dev, ino uint64 }

// palaceFiles knows the files of one palace by identity, so that a process
// that has them open is found whatever path it used: another spelling, a bind
// mount, a container.
type palaceFiles struct {
	path   string            // as the target gives it
	roots  []string          // resolved spellings, as the kernel shows them
	byID   map[fileID]string // path inside the palace
	names  map[string]bool   // base names of those files
	devs   map[uint64]bool   // devices they lie on
	newest time.Time         // last change of any of them
	cut    bool              // too many entries: not all are known
}

// indexPalace walks the palace two levels deep: database files, and the index
// files in segment directories. What cannot be read is left out; a palace that
// is gone gives an index without files, whose spellings still recognise open
// descriptors of what was there.
func indexPalace(t Target, home string) *palaceFiles {
	p := &palaceFiles{path: t.Path, byID: map[fileID]string{}, names: map[string]bool{}, devs: map[uint64]bool{}}
	seen := map[string]bool{}
	for _, s := range append([]string{t.Path}, t.Spellings...) {
		if s == "" {
			continue
		}
		if root := Resolve(s, home); !seen[root] {
			seen[root] = true
			p.roots = append(p.roots, root)
		}
	}
	if len(p.roots) == 0 {
		return p
	}
	left := maxPalaceEntries
	p.walk(p.roots[0], "", 2, &left)
	p.cut = left <= 0
	return p
}

func (p *palaceFiles) walk(root, rel string, depth int, left *int) {
	dir, err := os.OpenFile(filepath.Join(root, rel), os.O_RDONLY|nonblock, 0)
	if err != nil {
		return
	}
	defer dir.Close()
	if info, err := dir.Stat(); err == nil {
		if !info.IsDir() {
			return
		}
		if id, ok := identify(info); ok {
			p.devs[id.dev] = true
		}
	}
	for *left > 0 {
		entries, err := dir.ReadDir(min(*left, 1024))
		*left -= len(entries)
		for _, e := range entries {
			name := filepath.Join(rel, e.Name())
			if e.IsDir() {
				if depth > 1 {
					p.walk(root, name, depth-1, left)
				}
				continue
			}
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if id, ok := identify(info); ok {
				p.byID[id], p.names[e.Name()], p.devs[id.dev] = name, true, true
			}
			if m := info.ModTime(); m.After(p.newest) {
				p.newest = m
			}
		}
		if err != nil || len(entries) == 0 {
			return
		}
	}
}

// archives are the endings under which MemPalace, repairs and people put a
// palace aside: palace.old, palace.backup, palace.pre-rebuild-20260101-120000.
var archives = []string{".old", ".bak", ".backup", ".pre-", ".replaced"}

// below tells whether an open file's path lies inside the palace, or inside a
// directory beside it that is named as an archive of it.
func (p *palaceFiles) below(path string) (inside, beside bool) {
	for _, root := range p.roots {
		rest, ok := strings.CutPrefix(path, root)
		if !ok || rest == "" {
			continue
		}
		switch rest[0] {
		case '/':
			return true, false
		case '.':
			for _, ending := range archives {
				beside = beside || strings.HasPrefix(rest, ending) && strings.Contains(rest, "/")
			}
		}
	}
	return false, beside
}
