package views

import (
	"context"
	"sync"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/health"
)

// stage puts a core into states that are hard to make for real: a lock that is
// held for hours, a disk that does not answer.
type stage struct {
	Core
	holder map[string]*locks.Holder // by palace
	other  map[string][]locks.Opener
	waits  map[string][]locks.Process

	mu   sync.Mutex
	hung map[string]chan struct{} // a palace whose disk is gone, until closed
	// asked counts the questions about palaces.
	asked  map[string]int
	failed error // what Survey and Discover answer
	runner *action.Runner
	act    action.Action // what Closing gives
	// blocked tells a driver that a question hangs.
	blocked chan struct{}
}

func newStage(c Core) *stage {
	return &stage{Core: c, holder: map[string]*locks.Holder{}, other: map[string][]locks.Opener{},
		waits: map[string][]locks.Process{}, hung: map[string]chan struct{}{}, asked: map[string]int{}, blocked: make(chan struct{})}
}

// hang makes every question about a palace wait until the stage is cleared.
func (s *stage) hang(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hung[path] = make(chan struct{})
}

func (s *stage) release(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.hung[path]; c != nil {
		close(c)
		delete(s.hung, path)
	}
}

// enter waits at a palace that hangs. Like a dead mount it does not listen to ctx
// for as long as a person would; to let tests end it does listen.
func (s *stage) enter(ctx context.Context, path string) error {
	s.mu.Lock()
	s.asked[path]++
	c := s.hung[path]
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	for told := s.blocked; ; told = nil {
		select {
		case told <- struct{}{}:
			// once; then only the end counts
		case <-c:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *stage) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[path]
}

func (s *stage) Discover(ctx context.Context) (palace.Discovery, error) {
	if s.failed != nil {
		return palace.Discovery{}, s.failed
	}
	return s.Core.Discover(ctx)
}

func (s *stage) Report(ctx context.Context, p palace.Found, depth health.Depth) *health.Report {
	_ = s.enter(ctx, p.Ref.Path) // a report always comes
	r := s.Core.Report(ctx, p, depth)
	h := s.holder[p.Ref.Path]
	if h == nil {
		return r
	}
	r.Lock = health.Lock{State: "held", Holder: health.HolderDocument(h)}
	r.Findings = append(r.Findings, health.Finding{
		Code: health.LockHeld, Severity: health.Info, Subject: p.Ref.Path,
		Cause:    "held by a process; other writers are refused until it lets go",
		Evidence: map[string]any{"pid": h.PID},
		Remedy:   &health.Remedy{Action: "wait for it, or castellan close", Reason: "a lock is never stolen: its holder may be in the middle of a write"},
	})
	return r
}

func (s *stage) Survey(ctx context.Context, list []palace.Found) (locks.Survey, error) {
	if s.failed != nil {
		return locks.Survey{}, s.failed
	}
	for _, p := range list {
		if err := s.enter(ctx, p.Ref.Path); err != nil {
			return locks.Survey{}, err
		}
	}
	v, err := s.Core.Survey(ctx, list)
	for i := range v.PalaceLocks {
		l := &v.PalaceLocks[i]
		if h := s.holder[l.Palace]; h != nil {
			l.State, l.Holder, l.Waiters = locks.Held, h, s.waits[l.Palace]
		}
	}
	v.Openers = nil
	for path, list := range s.other {
		for _, o := range list {
			o.Palace = path
			v.Openers = append(v.Openers, o)
		}
	}
	return v, err
}

func (s *stage) Runner() *action.Runner {
	if s.runner != nil {
		return s.runner
	}
	return s.Core.Runner()
}

func (s *stage) Closing(ctx context.Context, p palace.Found, how Closing) (action.Action, error) {
	if s.act != nil {
		return s.act, nil
	}
	return s.Core.Closing(ctx, p, how)
}

func (s *stage) Count(ctx context.Context, at Place, f backend.Filter) (int64, error) {
	if err := s.enter(ctx, at.Palace.Ref.Path); err != nil {
		return 0, err
	}
	return s.Core.Count(ctx, at, f)
}

func (s *stage) Page(ctx context.Context, at Place, q backend.Query) (backend.Page, error) {
	if err := s.enter(ctx, at.Palace.Ref.Path); err != nil {
		return backend.Page{}, err
	}
	return s.Core.Page(ctx, at, q)
}

// busyMine and idleServer are the two holders people meet.
func busyMine() *locks.Holder {
	cpu, idle := 97.0, 0.0
	return &locks.Holder{
		Process: locks.Process{PID: 4121, PPID: 3801, Name: "mempalace", Command: "mempalace mine /home/u/src", Role: locks.RoleMine, State: "R",
			Started: noon.Add(-5 * time.Minute), Parents: []locks.Ancestor{{PID: 3801, Name: "claude"}, {PID: 900, Name: "zsh"}, {PID: 800, Name: "tmux"}}},
		Identity: locks.Known, Since: noon.Add(-4 * time.Minute), CPUPercent: &cpu, IdleSeconds: &idle,
	}
}

func idleServer() *locks.Holder {
	cpu, idle := 0.0, (8 * time.Hour).Seconds()
	return &locks.Holder{
		Process: locks.Process{PID: 3990, PPID: 1, Name: "mempalace-mcp", Command: "mempalace-mcp", Role: locks.RoleMCP, State: "S",
			Started: noon.Add(-9 * time.Hour), Orphan: true},
		Identity: locks.Known, Since: noon.Add(-8 * time.Hour), CPUPercent: &cpu, IdleSeconds: &idle,
	}
}
