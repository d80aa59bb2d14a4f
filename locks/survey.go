package locks

import (
	"fmt"
	"time"
)

// State is what can be said of a lock.
type State string

const (
	// Free: nobody holds it, and whoever held it would be seen from here.
	Free State = "free"
	// Held: the operating system shows that somebody holds it.
	Held State = "held"
	// StateUnknown: not seen held, but a holder could be out of sight.
	StateUnknown State = "unknown"
	// NoDirectory: there is no lock directory, so nobody ever took a lock here.
	NoDirectory State = "no_directory"
)

// Target is a palace to look for.
type Target struct {
	Path      string   // the palace directory; names the palace in the answers
	Spellings []string // other paths of the same directory: aliases, bind mounts
	Keys      []string // keys beyond those that the paths give
}

// keys gives each key once, the one of Path first.
func (t Target) keys(home string) []string {
	var keys []string
	seen := map[string]bool{}
	add := func(key string) {
		if !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	for _, s := range append([]string{t.Path}, t.Spellings...) {
		if s != "" {
			add(digest(Resolve(s, home)))
		}
	}
	for _, key := range t.Keys {
		if isKey(key) {
			add(key)
		}
	}
	return keys
}

// Survey is what one look at the locks showed.
type Survey struct {
	At          time.Time
	Directory   string // the lock directory; "" when there is none
	PalaceLocks []PalaceLock
	Sources     Sources
	Openers     []Opener
	HookSlots   []HookSlot

	// Hidden counts processes whose open files could not be looked at: others'
	// processes, mostly. With Hidden above 0 the openers may be incomplete; see
	// PalaceView.Hidden for the processes that matter.
	Hidden int
	// Gaps says what else could not be read, each with its subject.
	Gaps []error

	reach map[string][]int // by target: the processes that PalaceView.Hidden counts
}

// PalaceLock is one palace lock file, or the place where a target's would be.
type PalaceLock struct {
	Palace string // Path of the target with this key; "" when none has it
	Key    string
	Path   string
	State  State
	Why    string // for unknown: why it cannot be told

	Holder     *Holder     // set when held
	LastHolder *LastHolder // what the file says of an earlier holder, if anything
	Waiters    []Process   // blocked on the lock, or queueing with a .want file

	// Unlinked: the file that is held has been removed from Path. Its holder
	// still believes in it, and a newcomer would lock another file: two writers.
	Unlinked bool
}

// Sources sums up the per-source locks.
type Sources struct {
	Total int          // lock files: most are left behind and mean nothing
	Held  []SourceLock // those that somebody holds
	Known bool         // false: more may be held than Held shows
}

// SourceLock is a held lock around one source file.
type SourceLock struct {
	Path   string
	Key    string // see SourceKey
	Holder Holder
}

// Opener is a process other than ours that has files of a palace open.
type Opener struct {
	Process
	Palace string // the target's Path
	Files  []OpenFile
	Writer bool   // it holds the lock of this palace
	Note   string // what is wrong about it, for people; "" = nothing
}

// OpenFile is an open file of a palace.
type OpenFile struct {
	Path string // hostile like every path: clean it before showing
	// Deleted: the file was removed while open. What is written to it is lost,
	// and SQLite refuses with 1032 (the database moved).
	Deleted bool
	// Moved: the palace's path now leads to another file than this one.
	Moved    bool
	Writable bool   // opened for writing
	Lock     string // the strongest lock on it through this descriptor: read, write or ""
}

// PalaceView is the part of a survey that concerns one palace.
type PalaceView struct {
	At time.Time
	// Lock is the one that decides: a held one before an unknown one before a
	// free one.
	Lock PalaceLock
	// Others are the palace's locks under its other keys.
	Others  []PalaceLock
	Openers []Opener
	// Hidden counts processes whose open files could not be looked at and that
	// could have this palace open: by the rights that they have, and because
	// they could be a MemPalace or a Chroma. Other people's processes and the
	// system's daemons are mostly neither. Where that cannot be told, it is
	// Survey.Hidden.
	Hidden int
	Gaps   []error
}

// Palace picks what concerns the target with this path. A path that was not
// surveyed gives an unknown lock.
func (s Survey) Palace(path string) PalaceView {
	v := PalaceView{At: s.At, Hidden: s.Hidden, Gaps: s.Gaps, Lock: PalaceLock{
		Palace: path, State: StateUnknown, Why: fmt.Sprintf("%s was not looked at", path)}}
	if pids, ok := s.reach[path]; ok {
		v.Hidden = len(pids)
	}
	first := true
	for _, l := range s.PalaceLocks {
		switch {
		case l.Palace != path || path == "":
			continue
		case first:
			v.Lock, first = l, false
		case l.State.weight() > v.Lock.State.weight():
			v.Others = append(v.Others, v.Lock)
			v.Lock = l
		default:
			v.Others = append(v.Others, l)
		}
	}
	for _, p := range s.Openers {
		if p.Palace == path {
			v.Openers = append(v.Openers, p)
		}
	}
	return v
}

func (s State) weight() int {
	switch s {
	case Held:
		return 2
	case StateUnknown:
		return 1
	}
	return 0
}
