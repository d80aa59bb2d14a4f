package closing

import (
	"fmt"
	"strings"

	"castellan/locks"
)

// Outcome is what closing came to; it is the Detail of the run's Result.
type Outcome struct {
	// Asked are those who were signalled, each signal an entry.
	Asked []Asked `json:"asked"`
	// CameBack are those who have or had the palace since, and were not asked.
	CameBack []Returned `json:"came_back"`
	// Lock and Remaining are as last seen: the palace lock, and who of those
	// asked still has the palace.
	Lock      locks.PalaceLock `json:"-"`
	Remaining []locks.Holder   `json:"-"`
	// HooksPaused: automatic saves were on, and were switched off.
	HooksPaused bool `json:"-"`
}

// Asked is one signal.
type Asked struct {
	PID    int    `json:"pid"`
	Signal string `json:"signal"`
	// Exited: the process had ended when the wait was over.
	Exited bool `json:"exited"`
}

// Returned is a process that came after the others had been asked, or between
// plan and run.
type Returned struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
	// Parent is who started it, "claude (PID 3801)"; nil where that cannot be
	// seen. It is who to talk to: what it starts again will come again.
	Parent *string `json:"parent"`
}

// Closed reports that nobody has the palace and nobody came back.
func (o *Outcome) Closed() bool {
	return len(o.Remaining) == 0 && len(o.CameBack) == 0 && (o.Lock.State == locks.Free || o.Lock.State == locks.NoDirectory)
}

// Unsure reports that nobody is seen with the palace, and that somebody may
// have it all the same.
func (o *Outcome) Unsure() bool {
	return len(o.Remaining) == 0 && len(o.CameBack) == 0 && o.Lock.State == locks.StateUnknown
}

func (o *Outcome) summary() string {
	var said []string
	for _, h := range o.Remaining {
		said = append(said, named(h.Process)+" still has it")
	}
	for _, r := range o.CameBack {
		s := fmt.Sprintf("PID %d (%s) came back", r.PID, r.Command)
		if r.Parent != nil {
			s += ", started by " + *r.Parent
		}
		said = append(said, s)
	}
	switch {
	case len(said) > 0:
		return "not closed: " + strings.Join(said, "; ")
	case o.Closed():
		return "closed; nobody has it, and nobody came back"
	case o.Unsure():
		return "nobody is seen with it any more, but not all can be seen from here"
	}
	return "not closed: its lock is still held"
}
