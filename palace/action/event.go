package action

import (
	"time"

	"castellan/locks"
)

// Event is one thing that a run has to say. Its detail is a Changed, Waiting,
// Phase, Progress, Log, Finding or Finished.
type Event struct {
	Run    ID
	At     time.Time
	Detail Detail

	// seq counts what the run said. A Progress that is replaced takes its
	// number along.
	seq uint64
}

// Detail is closed: the kinds of this package are all there are.
type Detail interface{ detail() }

// Changed says that the run is now waiting, running or cancelling. Its end is a
// Finished.
type Changed struct{ State State }

// Waiting says who holds the palace. It replaces the Waiting before it.
type Waiting struct {
	Holder locks.Holder
	// Since is when this run began to wait, Deadline when it gives up.
	Since, Deadline time.Time
}

// Phase is a part of the work. N counts from 1; Of is how many there are.
type Phase struct {
	N, Of int
	Name  string
	// CanStop: a cancel takes effect within the phase. Otherwise it waits.
	CanStop bool
}

// Progress says how far the phase is. It replaces the Progress before it; the
// last one of each phase stays.
type Progress struct {
	Done  int64
	Total int64 // 0 = not known
	Unit  string
}

// Log is a line for people. Its text may quote what is stored, so it is as
// hostile as that.
type Log struct {
	Level Level
	Text  string
}

// Level is how much a Log matters.
type Level string

// The levels.
const (
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

// Finding is something the action found; what, is between it and the screen. It
// is logged as JSON, and nobody changes it once it was reported. In a transcript
// of an earlier program it is the json.RawMessage that was kept.
type Finding struct{ Value any }

// Finished is the last event of a run, and there is exactly one.
type Finished struct {
	State  State // StateDone, StateFailed or StateCancelled
	Result Result
	Err    error // nil when done
}

func (Changed) detail()  {}
func (Waiting) detail()  {}
func (Phase) detail()    {}
func (Progress) detail() {}
func (Log) detail()      {}
func (Finding) detail()  {}
func (Finished) detail() {}

// State is how far a run is.
type State string

// The states of a run. It goes through them in this order and may leave some
// out.
const (
	StatePlanned    State = "planned"    // started, and about to ask for the lease
	StateWaiting    State = "waiting"    // somebody else holds the palace
	StateRunning    State = "running"    // under its lease
	StateCancelling State = "cancelling" // asked to stop, and not there yet
	StateDone       State = "done"
	StateFailed     State = "failed"
	StateCancelled  State = "cancelled"
	// Unfinished is what a log says that has no end: the run goes on in another
	// process, or its process was killed.
	StateUnfinished State = "unfinished"
)

// Over reports that nothing more will come.
func (s State) Over() bool { return s == StateDone || s == StateFailed || s == StateCancelled }
