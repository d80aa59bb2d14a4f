package closing

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace/action"
)

// clock goes on only when somebody sleeps, so that a slow machine changes
// nothing; stands keeps it from going on.
type clock struct {
	at     time.Time
	stands func() bool
}

func (c *clock) now() time.Time { return c.at }

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	if c.stands == nil || !c.stands() {
		c.at = c.at.Add(d)
	}
	return sleep(ctx, 5*time.Millisecond)
}

// closer makes the action for a stage. Who is asked may take its time: the
// wait ends when it has let go.
func (s stage) closer(t *testing.T, o Options) *Action {
	t.Helper()
	c := &clock{at: time.Unix(1e9, 0)}
	if o.Now == nil {
		o.Now, o.Sleep = c.now, c.sleep
	}
	if o.Wait == 0 {
		o.Wait = 24 * time.Hour
	}
	if o.Observer == nil {
		o.Observer = locks.NewObserver(locks.Options{Home: s.home, SampleInterval: -1, Getenv: func(string) string { return "" }})
	}
	o.Target = locks.Target{Path: s.palace}
	o.Subject = action.Subject{Palace: s.palace, Keys: []string{s.palace}, LockPaths: []string{s.palace}}
	o.Name = "work"
	a, err := New(o)
	must(t, err)
	return a
}

// plan is a plan that can be started.
func plan(t *testing.T, a *Action) action.Plan {
	t.Helper()
	p, err := a.Plan(t.Context())
	must(t, err)
	if p.Refusal != nil {
		t.Fatalf("refused: %v", p.Refusal)
	}
	return p
}

// conduct runs it through a Runner, as programs do.
func conduct(t *testing.T, a *Action, p action.Plan) (*Outcome, action.Finished) {
	t.Helper()
	runner := action.NewRunner(action.Options{})
	defer func() { must(t, runner.Shutdown(context.Background())) }()
	run, err := runner.Start(t.Context(), a, p)
	must(t, err)
	<-run.Done()
	s := run.Snapshot()
	o, _ := s.Result.Detail.(*Outcome)
	return o, action.Finished{State: s.State, Result: s.Result, Err: s.Err}
}

func refusal(t *testing.T, a *Action) *action.RefusedError {
	t.Helper()
	p, err := a.Plan(t.Context())
	must(t, err)
	if p.Refusal == nil {
		t.Fatalf("not refused: %+v", p)
	}
	return p.Refusal
}

func TestAHolderThatIsAskedLetsGoAndStaysAway(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	holder, bystander := s.start(t, "holder"), s.start(t, "bystander")
	reader := s.start(t, "reader")
	lock := locks.File(locks.Directory(s.home), locks.Key(s.palace))
	before, err := os.Stat(lock)
	must(t, err)
	a := s.closer(t, Options{})
	p := plan(t, a)
	if p.Risk != action.RiskReversible || p.TypedName != "" || len(p.Holders) != 1 || p.Holders[0].PID != holder.pid || p.Holders[0].Role != locks.RoleMine {
		t.Errorf("plan %+v", p)
	}
	if !strings.Contains(strings.Join(p.Leaves, "\n"), "only reads") || !strings.Contains(p.Reason, "the next mine goes on") {
		t.Errorf("plan %+v", p)
	}
	if !holder.alive() {
		t.Fatal("planning ended the holder")
	}
	o, f := conduct(t, a, p)
	if f.State != action.StateDone || !o.Closed() || o.Lock.State != locks.Free {
		t.Errorf("%+v, %+v", o, f)
	}
	if len(o.Asked) != 1 || o.Asked[0] != (Asked{PID: holder.pid, Signal: "SIGTERM", Exited: true}) || len(o.CameBack) != 0 {
		t.Errorf("%+v", o)
	}
	if !bystander.alive() || !reader.alive() {
		t.Error("somebody was ended who does not hold it")
	}
	after, err := os.Stat(lock)
	must(t, err)
	if !os.SameFile(before, after) {
		t.Error("the lock file is another one")
	}
	if r := refusal(t, a); r.Kind != NotOpen {
		t.Errorf("closing twice: %v", r)
	}
}

func TestWhoDoesNotListenIsLeftAliveWithoutASecondConfirmation(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	holder := s.start(t, "deaf")
	a := s.closer(t, Options{Wait: time.Second})
	o, f := conduct(t, a, plan(t, a))
	if f.State != action.StateDone || o.Closed() || o.Lock.State != locks.Held || !holder.alive() {
		t.Errorf("%+v, %+v", o, f)
	}
	if len(o.Asked) != 1 || o.Asked[0].Exited || len(o.Remaining) != 1 || o.Remaining[0].PID != holder.pid || len(o.CameBack) != 0 {
		t.Errorf("%+v", o)
	}
}

func TestForceComesOnlyAfterAskingAndNeedsTheName(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	holder := s.start(t, "deaf")
	c := &clock{at: time.Unix(1e9, 0)}
	// Once the polite wait is over, a killed process has all the time it needs.
	begin := c.at
	c.stands = func() bool { return c.at.Sub(begin) > 2*time.Second && holder.alive() }
	a := s.closer(t, Options{Wait: time.Second, Kill: true, Now: c.now, Sleep: c.sleep})
	p := plan(t, a)
	if p.Risk != action.RiskDestructive || p.TypedName != "work" {
		t.Errorf("plan %+v", p)
	}
	o, _ := conduct(t, a, p)
	want := []Asked{{PID: holder.pid, Signal: "SIGTERM"}, {PID: holder.pid, Signal: "SIGKILL", Exited: true}}
	if len(o.Asked) != 2 || o.Asked[0] != want[0] || o.Asked[1] != want[1] || !o.Closed() {
		t.Errorf("%+v", o)
	}
}

func TestAChromaServerIsInterrupted(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	server := s.start(t, "server", "chroma", "run", "--path", s.palace)
	a := s.closer(t, Options{})
	o, _ := conduct(t, a, plan(t, a))
	if len(o.Asked) != 1 || o.Asked[0] != (Asked{PID: server.pid, Signal: "SIGINT", Exited: true}) || !o.Closed() {
		t.Errorf("%+v", o)
	}
}

func TestWhoComesBackIsNamedWithWhoStartedIt(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	boss := s.start(t, "supervisor", "claude", "--mcp")
	c := &clock{at: time.Unix(1e9, 0)}
	again := 0
	c.stands = func() bool {
		if again == 0 {
			again = boss.ready(t) // the second holder has the lock
		}
		return false
	}
	a := s.closer(t, Options{Now: c.now, Sleep: c.sleep})
	o, _ := conduct(t, a, plan(t, a))
	if o.Closed() || len(o.Asked) != 1 || o.Asked[0].PID != boss.pid || !o.Asked[0].Exited {
		t.Errorf("%+v", o)
	}
	if len(o.CameBack) != 1 || o.CameBack[0].PID != again || o.CameBack[0].Command != "mempalace mine /x" || o.CameBack[0].Parent == nil {
		t.Fatalf("%+v, want pid %d", o.CameBack, again)
	}
	if got := *o.CameBack[0].Parent; !strings.HasSuffix(got, "(PID "+itoa(boss.cmd.Process.Pid)+")") {
		t.Errorf("started by %s", got)
	}
}

func TestAServerOnADeletedDatabaseIsAskedAndOneOnAnotherPalaceIsNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newStage(t, dir)
	opener := s.start(t, "opener")
	must(t, os.Rename(filepath.Join(s.palace, "chroma.sqlite3"), filepath.Join(s.palace, "x")))
	must(t, os.Remove(filepath.Join(s.palace, "x")))
	must(t, os.WriteFile(filepath.Join(s.palace, "chroma.sqlite3"), nil, 0o600))
	other := s
	other.palace = filepath.Join(dir, "work2")
	must(t, os.Mkdir(other.palace, 0o700))
	must(t, os.WriteFile(filepath.Join(other.palace, "chroma.sqlite3"), nil, 0o600))
	stranger, strangeHolder := other.start(t, "opener"), other.start(t, "holder")
	a := s.closer(t, Options{})
	o, _ := conduct(t, a, plan(t, a))
	if len(o.Asked) != 1 || o.Asked[0].PID != opener.pid || !o.Closed() {
		t.Errorf("%+v", o)
	}
	if !stranger.alive() || !strangeHolder.alive() {
		t.Error("who has another palace was ended")
	}
}

func TestNobodyIsAskedWhomThePlanDidNotName(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	first := s.start(t, "holder")
	a := s.closer(t, Options{})
	p := plan(t, a)
	must(t, first.stdin.Close())
	<-first.ended
	second := s.start(t, "holder")
	o, f := conduct(t, a, p)
	var r *action.RefusedError
	if f.State != action.StateFailed || !errors.As(f.Err, &r) || r.Kind != HolderChanged || o != nil || !second.alive() {
		t.Errorf("%+v, %+v", o, f)
	}

	// Beside one who is asked, a newcomer is told and left alone.
	p = plan(t, a)
	third := s.start(t, "opener")
	o, _ = conduct(t, a, p)
	if len(o.Asked) != 1 || o.Asked[0].PID != second.pid || len(o.CameBack) != 1 || o.CameBack[0].PID != third.pid || !third.alive() {
		t.Errorf("%+v", o)
	}
}

func TestWhenAllHaveLeftNobodyIsAsked(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	holder := s.start(t, "holder")
	a := s.closer(t, Options{})
	p := plan(t, a)
	must(t, holder.stdin.Close())
	<-holder.ended
	if o, f := conduct(t, a, p); f.Err != nil || !o.Closed() || len(o.Asked) != 0 {
		t.Errorf("%+v, %+v", o, f)
	}
}

func TestCastellanDoesNotEndItself(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	lease, err := locks.Take(t.Context(), locks.Target{Path: s.palace}, locks.TakeOptions{Home: s.home})
	must(t, err)
	defer func() { must(t, lease.Release()) }()
	if r := refusal(t, s.closer(t, Options{})); r.Kind != OwnProcess {
		t.Errorf("%v", r)
	}
}

func TestCancellingTellsWhatWasDone(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	s.start(t, "deaf")
	ctx, cancel := context.WithCancel(t.Context())
	c := &clock{at: time.Unix(1e9, 0)}
	c.stands = func() bool { cancel(); return true }
	a := s.closer(t, Options{Now: c.now, Sleep: c.sleep})
	runner := action.NewRunner(action.Options{})
	run, err := runner.Start(ctx, a, plan(t, a))
	must(t, err)
	<-run.Done()
	must(t, runner.Shutdown(t.Context()))
	got := run.Snapshot()
	if o, ok := got.Result.Detail.(*Outcome); got.State != action.StateCancelled || !ok || len(o.Asked) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestHooksArePausedBeforeAnybodyIsAsked(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	holder := s.start(t, "holder")
	h := newHooks(t, `{"hooks": [`)
	a := s.closer(t, Options{Hooks: h})
	if r := refusal(t, a); r.Kind != HooksUnusable || r.Subject != h.File {
		t.Errorf("%v", r)
	}
	must(t, os.WriteFile(h.File, []byte(`{}`), 0o600))
	p := plan(t, a)
	must(t, os.WriteFile(h.File, []byte(`{"hooks": [`), 0o600))
	if _, f := conduct(t, a, p); f.Err == nil || !holder.alive() {
		t.Errorf("asked although the hooks could not be paused: %+v", f)
	}
	must(t, os.WriteFile(h.File, []byte(`{}`), 0o600))
	o, f := conduct(t, a, p)
	if f.Err != nil || !o.Closed() || !strings.Contains(text(t, h.File), `"auto_save": false`) {
		t.Errorf("%+v, %+v, %s", o, f, text(t, h.File))
	}
}
