package locks

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func errTooMany(palace string) error {
	return fmt.Errorf("%s: more than %d entries, not all of them compared with open files", palace, maxPalaceEntries)
}

// assembly turns what was seen into answers: one process described once,
// however many locks and files it has.
type assembly struct {
	o       *Observer
	listing listing
	sight   *sight
	palaces []*palaceFiles
	known   map[int]*Process // nil = there is no such process
	watched []watched
}

func (a *assembly) process(pid int) *Process {
	p, ok := a.known[pid]
	if !ok && pid > 0 {
		if got, alive := a.o.process(pid); alive {
			p = &got
		}
		a.known[pid] = p
	}
	return p
}

// palaceLocks gives the targets' locks first, in their order, then those of
// palaces nobody asked about.
func (a *assembly) palaceLocks(targets []Target) []PalaceLock {
	dir := a.o.Directory()
	onDisk := map[string]bool{}
	for _, name := range a.listing.palaces {
		onDisk[name] = true
	}
	done := map[string]bool{}
	var out []PalaceLock
	add := func(palace, key string, trace time.Time) {
		name := palacePrefix + key + lockSuffix
		done[name] = true
		l := PalaceLock{Palace: palace, Key: key, Path: filepath.Join(dir, name)}
		out = append(out, a.palaceLock(l, name, onDisk[name], trace)...)
	}
	for i, t := range targets {
		for _, key := range t.keys(a.o.home) {
			add(t.Path, key, a.palaces[i].newest)
		}
	}
	rest := slices.Clone(a.listing.palaces)
	for name := range a.sight.unlinked {
		if kind, _ := parseName(name); kind == namePalace && !onDisk[name] {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	for _, name := range rest {
		if !done[name] {
			_, key := parseName(name)
			add("", key, time.Time{})
		}
	}
	return out
}

// palaceLock judges one lock file; it gives two answers when one holder has
// the file at the path and another one has a removed predecessor.
func (a *assembly) palaceLock(l PalaceLock, name string, exists bool, trace time.Time) []PalaceLock {
	var id identity
	var modified time.Time
	if exists || a.listing.err != nil {
		var err error
		if id, modified, err = readIdentity(l.Path); err != nil && exists {
			a.sight.gaps = append(a.sight.gaps, err)
		}
	}
	l.Waiters = a.waiters(name)
	l.State, l.Why = a.state(name)
	if l.State == Held {
		h := a.holder(a.sight.locks[name], id, modified)
		l.Holder = h
		a.watched = append(a.watched, watched{h, trace})
	}
	if (id.pid != 0 || id.text != "") && (l.Holder == nil || l.Holder.PID != id.pid) {
		p := a.process(id.pid)
		l.LastHolder = &LastHolder{PID: id.pid, Text: id.text, Alive: p != nil && p.wrote(modified)}
	}

	gone := a.sight.unlinked[name]
	if gone == nil {
		return []PalaceLock{l}
	}
	u := l
	u.State, u.Why, u.Unlinked = Held, "", true
	u.Holder = a.holder(gone, identity{}, time.Time{})
	a.watched = append(a.watched, watched{u.Holder, trace})
	if l.State == Held {
		return []PalaceLock{l, u}
	}
	return []PalaceLock{u}
}

// state decides from the operating system's tables alone.
func (a *assembly) state(name string) (State, string) {
	switch seen := a.sight.locks[name]; {
	case seen != nil && seen.doubt == "":
		return Held, ""
	case seen != nil:
		return StateUnknown, seen.doubt
	case a.listing.dir == "":
		return NoDirectory, ""
	case a.listing.err != nil:
		return StateUnknown, clean(a.listing.err.Error())
	case a.sight.blind != "":
		return StateUnknown, a.sight.blind
	}
	return Free, ""
}

// holder names who holds a lock, in the order of trust: a process that took
// the lock and has it, one that has it, one that took it and cannot be looked
// into, and at last the file's own text.
func (a *assembly) holder(seen *lockSight, id identity, modified time.Time) *Holder {
	pid, rank := 0, 0
	for _, have := range seen.havers {
		r := 1
		switch {
		case slices.Contains(seen.takers, have):
			r = 3
		case have == id.pid:
			r = 2
		}
		if r > rank {
			pid, rank = have, r
		}
	}
	if pid == 0 {
		for _, took := range seen.takers {
			p := a.process(took)
			if p == nil || !a.sight.isHidden(took) {
				continue // gone, or it has passed the lock on
			}
			if !modified.IsZero() && !p.wrote(modified) {
				// Younger than the lock file's text: perhaps a pid used again. Better no
				// name than one that somebody then kills.
				return &Holder{Identity: Unknown}
			}
			pid = took
		}
	}
	if p := a.process(pid); p != nil {
		h := &Holder{Process: *p, Identity: Known}
		if id.pid == pid {
			h.Since = modified
		}
		for _, have := range seen.havers {
			if have != pid {
				h.SharedWith = append(h.SharedWith, have)
			}
		}
		return h
	}
	return a.recorded(id, modified)
}

// recorded believes the lock file's text as far as nothing speaks against it.
func (a *assembly) recorded(id identity, modified time.Time) *Holder {
	p := a.process(id.pid)
	switch {
	case p != nil && a.sight.isHidden(id.pid) && p.wrote(modified):
		return &Holder{Process: *p, Identity: Recorded, Since: modified}
	case p == nil && id.pid != 0 && a.sight.blind != "":
		// It may live where it cannot be seen: another container's process.
		return &Holder{Process: Process{PID: id.pid, Command: id.text, Role: roleOf(strings.Fields(id.text))}, Identity: Recorded, Since: modified}
	}
	return &Holder{Identity: Unknown}
}

// waiters are processes blocked on the lock itself and writers that announce
// themselves by holding the .want file beside it.
func (a *assembly) waiters(name string) []Process {
	var pids []int
	if seen := a.sight.locks[name]; seen != nil {
		pids = append(pids, seen.waiters...)
	}
	if want := a.sight.locks[strings.TrimSuffix(name, lockSuffix)+wantSuffix]; want != nil && want.doubt == "" {
		pids = append(append(append(pids, want.takers...), want.havers...), want.waiters...)
	}
	slices.Sort(pids)
	var out []Process
	for _, pid := range slices.Compact(pids) {
		if p := a.process(pid); p != nil {
			out = append(out, *p)
		}
	}
	return out
}

func (a *assembly) sourceLocks() Sources {
	s := Sources{Total: a.listing.total, Known: a.sight.blind == "" && a.listing.err == nil && a.listing.total <= maxSourceNames}
	for name, seen := range a.sight.locks {
		kind, key := parseName(name)
		if kind != nameSource {
			continue
		}
		if seen.doubt != "" {
			s.Known = false
			continue
		}
		s.Held = append(s.Held, SourceLock{
			Path: filepath.Join(a.listing.dir, name), Key: key,
			Holder: *a.holder(seen, identity{}, time.Time{}),
		})
	}
	slices.SortFunc(s.Held, func(x, y SourceLock) int { return cmp.Compare(x.Key, y.Key) })
	return s
}
