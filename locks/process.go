package locks

import "time"

// Process is one process as the operating system describes it. Command and
// Name are free of control characters and secrets.
type Process struct {
	PID     int
	PPID    int    // 0 = init's own parent, or not to be seen from here
	Name    string // the program or script, for a chain such as claude ← zsh
	Command string // all arguments; "" when they cannot be read
	Role    Role
	State   string    // R, S, D, T, Z and so on; "" = not known
	Started time.Time // zero = not known
	RSS     int64     // resident bytes; 0 = not known

	// Parents is the chain upwards, nearest first, as far as it can be seen.
	Parents []Ancestor
	// Orphan: the process that started it has exited. Told only on evidence: its
	// present parent belongs to another session, although a child starts in its
	// parent's; or that parent is systemd, and the process sits in a scope, where
	// systemd starts nothing. A daemon that put itself into the background is an
	// orphan in this sense; a service started by init is none.
	Orphan bool

	birth  uint64        // start in clock ticks since boot: tells a reused pid
	cpu    time.Duration // user and system time so far
	hasCPU bool
	kernel bool // a kernel thread
}

// Ancestor is one step of a parent chain.
type Ancestor struct {
	PID  int
	Name string
}

// Identity says how the holder of a lock became known.
type Identity string

const (
	// Known: the kernel's tables show this process with the lock.
	Known Identity = "known"
	// Recorded: the lock is held, and only the lock file's text says by whom.
	Recorded Identity = "recorded"
	// Unknown: the lock is held, and by whom cannot be seen from here.
	Unknown Identity = "unknown"
)

// Holder is who holds a lock. With identity unknown PID is 0 and the rest is
// empty.
type Holder struct {
	Process
	Identity Identity

	// Since is when the holder took the lock: the age of what it wrote into the
	// lock file. Zero when the file names somebody else.
	Since time.Time

	// CPUPercent is the share of one core used between the last two samples;
	// IdleSeconds how long nothing has moved (0 = busy). Both nil until two
	// samples exist.
	CPUPercent  *float64
	IdleSeconds *float64

	// SharedWith lists other processes with the same open lock file: children
	// that inherited it. The lock stays until the last of them is gone.
	SharedWith []int
}

// LastHolder is what the lock file says of an earlier holder.
type LastHolder struct {
	PID   int    // 0 = the text names none
	Text  string // the recorded command
	Alive bool   // the process that wrote it still runs
}

// reuseSlack is how much later than its own trace a process may seem to have
// started: boot time is known to a second, file times to the file system's
// grain.
const reuseSlack = 2 * time.Second

// wrote tells whether the process can have written a file with that
// modification time and still run, or has merely been given the pid of one
// that did.
func (p Process) wrote(modified time.Time) bool {
	if p.kernel || p.State == "Z" {
		return false
	}
	return p.Started.IsZero() || !p.Started.After(modified.Add(reuseSlack))
}
