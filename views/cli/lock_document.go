package cli

import (
	"time"

	"castellan/locks"
	"castellan/palace/health"
)

// lockDocument is what castellan locks answers.
type lockDocument struct {
	// Directory is null where MemPalace has made none yet.
	Directory   *string      `json:"directory"`
	PalaceLocks []palaceLock `json:"palace_locks"`
	SourceLocks sourceLocks  `json:"source_locks"`
	Openers     []opener     `json:"openers"`
	HookSlots   []hookSlot   `json:"hook_slots"`
	// Hidden counts the processes whose open files could not be looked at:
	// above 0 the openers may be incomplete.
	Hidden int `json:"hidden"`
	// Gaps says what else could not be read.
	Gaps []string `json:"gaps"`
}

type palaceLock struct {
	Palace *string `json:"palace"`
	health.Lock
	// Why says why a state is unknown.
	Why string `json:"why,omitempty"`
	// Waiters are processes that queue for the lock.
	Waiters []process `json:"waiters"`
	// Unlinked: the file that is held is gone from its path, so a newcomer
	// would lock another one.
	Unlinked bool `json:"unlinked"`
}

type process struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

type sourceLocks struct {
	Total int          `json:"total"`
	Held  []sourceLock `json:"held"`
	// Known is false where more may be held than can be seen.
	Known bool `json:"known"`
}

type sourceLock struct {
	Path   string         `json:"path"`
	Holder *health.Holder `json:"holder"`
}

type opener struct {
	Palace string `json:"palace"`
	health.Opener
	Writer bool `json:"writer"`
}

type hookSlot struct {
	Path    string  `json:"path"`
	PID     *int    `json:"pid"`
	State   string  `json:"state"`
	Since   *string `json:"since"`
	Command string  `json:"command"`
}

func newLockDocument(s locks.Survey) lockDocument {
	d := lockDocument{
		PalaceLocks: []palaceLock{}, Openers: []opener{}, HookSlots: []hookSlot{}, Gaps: []string{}, Hidden: s.Hidden,
		SourceLocks: sourceLocks{Total: s.Sources.Total, Held: []sourceLock{}, Known: s.Sources.Known},
	}
	if s.Directory != "" {
		d.Directory = &s.Directory
	}
	for _, l := range s.PalaceLocks {
		p := palaceLock{Palace: orNil(l.Palace), Lock: lockOf(l), Why: l.Why, Waiters: []process{}, Unlinked: l.Unlinked}
		for _, w := range l.Waiters {
			p.Waiters = append(p.Waiters, process{PID: w.PID, Command: w.Command})
		}
		d.PalaceLocks = append(d.PalaceLocks, p)
	}
	for _, l := range s.Sources.Held {
		d.SourceLocks.Held = append(d.SourceLocks.Held, sourceLock{Path: l.Path, Holder: health.HolderDocument(&l.Holder)})
	}
	for i, o := range health.OpenerDocuments(s.Openers) {
		d.Openers = append(d.Openers, opener{Palace: s.Openers[i].Palace, Opener: o, Writer: s.Openers[i].Writer})
	}
	for _, slot := range s.HookSlots {
		h := hookSlot{Path: slot.Path, State: string(slot.State), Since: health.Since(slot.Since), Command: slot.Command}
		if slot.PID != 0 {
			h.PID = &slot.PID
		}
		d.HookSlots = append(d.HookSlots, h)
	}
	for _, g := range s.Gaps {
		d.Gaps = append(d.Gaps, g.Error())
	}
	return d
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// lockOf is a lock in the words of the report.
func lockOf(l locks.PalaceLock) health.Lock {
	out := health.Lock{State: string(l.State), Path: orNil(l.Path), Holder: health.HolderDocument(l.Holder)}
	if last := l.LastHolder; last != nil {
		out.LastHolder = &health.LastHolder{Command: last.Text, Alive: &last.Alive}
		if last.PID != 0 {
			out.LastHolder.PID = &last.PID
		}
	}
	return out
}

// age is the time from then until now, empty when then is not known.
func age(then *string, now time.Time) string {
	if s := since(then, now); s != "" {
		return s + " ago"
	}
	return ""
}
