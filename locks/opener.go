package locks

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
)

// openers groups the open files by process and palace.
func (a *assembly) openers(locks []PalaceLock) []Opener {
	type seat struct{ palace, pid int }
	files := map[seat][]OpenFile{}
	for _, f := range a.sight.files {
		s := seat{f.palace, f.pid}
		if !slices.Contains(files[s], f.OpenFile) { // one file, several descriptors
			files[s] = append(files[s], f.OpenFile)
		}
	}
	holds := map[seat]bool{}
	for _, l := range locks {
		for i, p := range a.palaces {
			if l.Holder != nil && l.Palace != "" && l.Palace == p.path {
				holds[seat{i, l.Holder.PID}] = true
			}
		}
	}
	var seats []seat
	for s := range files {
		seats = append(seats, s)
	}
	slices.SortFunc(seats, func(x, y seat) int {
		return cmp.Or(cmp.Compare(x.palace, y.palace), cmp.Compare(x.pid, y.pid))
	})
	var out []Opener
	for _, s := range seats {
		p := a.process(s.pid)
		if p == nil {
			continue // gone since
		}
		op := Opener{Process: *p, Palace: a.palaces[s.palace].path, Files: files[s], Writer: holds[s]}
		slices.SortFunc(op.Files, func(x, y OpenFile) int { return cmp.Compare(x.Path, y.Path) })
		op.Note = note(op)
		out = append(out, op)
	}
	return out
}

// note says what is wrong with how a process has a palace open.
func note(op Opener) string {
	for _, f := range op.Files {
		if f.Deleted {
			return fmt.Sprintf("still has the deleted %s open: its writes fail or are lost; restart it", clean(filepath.Base(f.Path)))
		}
	}
	for _, f := range op.Files {
		if f.Moved {
			return fmt.Sprintf("has %s open, which was moved away from the palace or is a copy of it: its writes do not reach the palace; restart it if it should", clean(f.Path))
		}
	}
	return ""
}
