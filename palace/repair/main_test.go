package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/health"
	"castellan/palace/specimen"

	"go.uber.org/goleak"
)

// partVariable makes this test binary a second program.
const partVariable = "REPAIR_TEST_PART"

func TestMain(m *testing.M) {
	if raw := os.Getenv(partVariable); raw != "" {
		var p peer
		err := json.Unmarshal([]byte(raw), &p)
		if err == nil {
			err = p.play(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// stage is a home with one palace in it.
type stage struct {
	t         *testing.T
	home, dir string
}

// sick makes a palace of a specimen.
func sick(t *testing.T, name string) *stage {
	t.Helper()
	s := &stage{t: t, home: t.TempDir()}
	s.dir = filepath.Join(s.home, "p")
	c, ok := specimen.ByName(name)
	if !ok {
		t.Fatalf("no specimen %s", name)
	}
	must(t, c.Make(t.Context(), samples(), s.dir))
	return s
}

// sample copies a recorded palace.
func sample(t *testing.T, name string) *stage {
	t.Helper()
	s := &stage{t: t, home: t.TempDir()}
	s.dir = filepath.Join(s.home, "p")
	must(t, specimen.CopyFS(samples(), name, s.dir))
	return s
}

func samples() fs.FS { return os.DirFS(filepath.Join("..", "..", "testdata", "palaces")) }

// eyes look at a palace as the program does.
type eyes struct {
	manager  *palace.Manager
	watch    *locks.Observer
	examiner *health.Examiner
}

func look(home string) eyes {
	none := func(string) string { return "" }
	watch := locks.NewObserver(locks.Options{Home: home, SampleInterval: -1, Getenv: none})
	m := palace.NewManager(palace.Options{Home: home, WorkDir: home, Env: none, Watch: watch})
	return eyes{m, watch, health.NewExaminer(health.Options{Manager: m, Observer: watch, Version: "test"})}
}

func found(dir string) palace.Found {
	ref := backend.Ref{Path: dir}
	return palace.Found{Ref: ref}
}

func (e eyes) options(home, dir string, mode Mode) Options {
	return Options{Manager: e.manager, Examiner: e.examiner, Observer: e.watch, Found: found(dir), StateDir: filepath.Join(home, "state"), Mode: mode, Version: "test"}
}

// repair makes the action until the test ends.
func (s *stage) repair(mode Mode, change ...func(*Options)) *Repair {
	s.t.Helper()
	e := look(s.home)
	s.t.Cleanup(func() { must(s.t, e.manager.Close()) })
	o := e.options(s.home, s.dir, mode)
	for _, c := range change {
		c(&o)
	}
	r, err := New(s.t.Context(), o)
	must(s.t, err)
	return r
}

func (s *stage) report() *health.Report {
	s.t.Helper()
	e := look(s.home)
	defer e.manager.Close()
	return e.examiner.Report(s.t.Context(), found(s.dir), health.Full)
}

func planned(t *testing.T, a action.Action) action.Plan {
	t.Helper()
	p, err := a.Plan(t.Context())
	must(t, err)
	if p.Refusal != nil {
		t.Fatalf("refused: %v", p.Refusal)
	}
	return p
}

func refused(t *testing.T, a action.Action, kind string) *action.RefusedError {
	t.Helper()
	p, err := a.Plan(t.Context())
	must(t, err)
	if p.Refusal == nil || p.Refusal.Kind != kind {
		t.Fatalf("refusal %v, want %s", p.Refusal, kind)
	}
	if p.Refusal.Reason == "" || p.Refusal.Next == "" || p.Refusal.Subject == "" {
		t.Errorf("a refusal without a way out: %+v", p.Refusal)
	}
	return p.Refusal
}

// run conducts an action as programs do, and gives how it ended.
func (s *stage) run(a action.Action, p action.Plan) action.Snapshot {
	s.t.Helper()
	runner := action.NewRunner(action.Options{Locker: action.PalaceLocks{Home: s.home}})
	defer func() { must(s.t, runner.Shutdown(context.Background())) }()
	run, err := runner.Start(s.t.Context(), a, p)
	must(s.t, err)
	<-run.Done()
	return run.Snapshot()
}

// do plans and runs what must succeed.
func (s *stage) do(a action.Action) action.Snapshot {
	s.t.Helper()
	end := s.run(a, planned(s.t, a))
	if end.State != action.StateDone {
		s.t.Fatalf("%s: %v", end.State, end.Err)
	}
	return end
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// peer is what the second program does to a palace.
type peer struct {
	Home, Dir string
	Mode      Mode
	Do        string // repair, undo or open
	KillAt    int    // die before the n-th step, counted from 1; 0 = never
}

func (p peer) play(ctx context.Context) (err error) {
	e := look(p.Home)
	defer func() { err = errors.Join(err, e.manager.Close()) }()
	n := 0
	at := func(step string) error {
		if n++; n == p.KillAt {
			fmt.Println(step)
			die()
		}
		return nil
	}
	r, err := New(ctx, e.options(p.Home, p.Dir, p.Mode))
	if err != nil {
		return err
	}
	r.at = at
	plan, err := r.Plan(ctx)
	if err != nil {
		return err
	}
	runner := action.NewRunner(action.Options{Locker: action.PalaceLocks{Home: p.Home}})
	run, err := runner.Start(ctx, r, plan)
	if err != nil {
		return err
	}
	<-run.Done()
	return errors.Join(run.Snapshot().Err, runner.Shutdown(ctx))
}

// run plays it in another process; killed says before which step it died.
func (p peer) run(t *testing.T) (step string, killed bool) {
	t.Helper()
	raw, err := json.Marshal(p)
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), partVariable+"="+string(raw))
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the other process: %v\n%s", err, out)
	}
	return strings.TrimSpace(string(out)), err != nil
}

// die ends the process as kill -9 does: nothing deferred runs.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	time.Sleep(time.Minute) // until the signal arrives
}

// slow leaves a test out under the race detector, under which SQLite alone
// takes minutes; the steps it goes through are others' too.
func slow(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("too slow under the race detector")
	}
	t.Parallel()
}
