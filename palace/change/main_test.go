package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/specimen"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// partVariable makes this test binary a second program.
const partVariable = "CHANGE_TEST_PART"

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
	t    *testing.T
	home string
	dir  string // of the palace
	env  map[string]string
}

// set copies a recorded palace.
func set(t *testing.T, sample string) *stage {
	t.Helper()
	home := t.TempDir()
	s := &stage{t: t, home: home, dir: filepath.Join(home, "p"), env: map[string]string{}}
	must(t, specimen.CopyFS(os.DirFS(filepath.Join("..", "..", "testdata", "palaces")), sample, s.dir))
	return s
}

// target opens the palace until the test ends.
func (s *stage) target() Target {
	s.t.Helper()
	t, end, err := openTarget(s.t.Context(), s.home, s.dir, s.env)
	must(s.t, err)
	s.t.Cleanup(func() { must(s.t, end()) })
	return t
}

func openTarget(ctx context.Context, home, dir string, env map[string]string) (Target, func() error, error) {
	watch := locks.NewObserver(locks.Options{Home: home, SampleInterval: -1, Getenv: func(string) string { return "" }})
	m := palace.NewManager(palace.Options{Home: home, WorkDir: home, Env: func(name string) string { return env[name] }, Watch: watch})
	p, err := m.Open(ctx, backend.Ref{Path: dir})
	if err != nil {
		return Target{}, m.Close, errors.Join(err, m.Close())
	}
	t := Target{Manager: m, Palace: p, StateDir: filepath.Join(home, "state"), Watch: watch}
	t, err = t.check()
	return t, m.Close, err
}

// planned gives a plan that can be started.
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

func (s *stage) delete(t Target, sel Selection) *Deleted {
	s.t.Helper()
	d, err := NewDelete(t, sel)
	must(s.t, err)
	return s.do(d).Result.Detail.(*Deleted)
}

func (s *stage) undo(t Target) *PutBack {
	s.t.Helper()
	u, err := NewUndo(t)
	must(s.t, err)
	return s.do(u).Result.Detail.(*PutBack)
}

// contents is everything in a palace, by collection and id.
func contents(t *testing.T, p *palace.Palace) map[string]map[string]backend.Record {
	t.Helper()
	all := map[string]map[string]backend.Record{}
	list, err := p.Collections(t.Context())
	must(t, err)
	for _, info := range list {
		rows := map[string]backend.Record{}
		c, err := p.Collection(t.Context(), info.Name)
		must(t, err)
		must(t, backend.Walk(t.Context(), c, backend.Query{Include: everything}, func(r backend.Record) error {
			rows[r.ID] = r
			return nil
		}))
		all[info.Name] = rows
	}
	return all
}

func wantSame(t *testing.T, before, after map[string]map[string]backend.Record) {
	t.Helper()
	if reflect.DeepEqual(before, after) {
		return // cmp takes its time over a million floats
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("the palace is not what it was:\n%.4000s", d)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ptr[T any](v T) *T { return &v }

// peer is what the second program does to a palace.
type peer struct {
	Home, Dir string
	// Do is hold, delete, undo or drain.
	Do     string
	Source string // of delete
	KillAt int    // die before the n-th step, counted from 1; 0 = never
}

func (p peer) play(ctx context.Context) (err error) {
	if p.Do == "hold" {
		l, err := locks.Take(ctx, locks.Target{Path: p.Dir}, locks.TakeOptions{Home: p.Home})
		if err != nil {
			return err
		}
		fmt.Println("holding")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the test lets go
		return l.Release()
	}
	t, end, err := openTarget(ctx, p.Home, p.Dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	n := 0
	at := func(string) {
		if n++; n == p.KillAt {
			die()
		}
	}
	var a action.Action
	switch p.Do {
	case "delete":
		d, err := NewDelete(t, Selection{Source: &p.Source})
		if err != nil {
			return err
		}
		d.at, a = at, d
	case "drain":
		d, err := NewDrain(t)
		if err != nil {
			return err
		}
		d.at, a = at, d
	}
	plan, err := a.Plan(ctx)
	if err != nil {
		return err
	}
	runner := action.NewRunner(action.Options{Locker: action.PalaceLocks{Home: p.Home}})
	run, err := runner.Start(ctx, a, plan)
	if err != nil {
		return err
	}
	<-run.Done()
	return errors.Join(run.Snapshot().Err, runner.Shutdown(ctx))
}

// run plays it in another process and tells whether it was killed.
func (p peer) run(t *testing.T) (killed bool) {
	t.Helper()
	cmd := p.command(t)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the other process: %v\n%s", err, out)
	}
	return err != nil
}

func (p peer) command(t *testing.T) *exec.Cmd {
	t.Helper()
	raw, err := json.Marshal(p)
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), partVariable+"="+string(raw))
	return cmd
}

// hold has another process hold the palace until the test calls letGo.
func (s *stage) hold() (letGo func()) {
	s.t.Helper()
	cmd := peer{Home: s.home, Dir: s.dir, Do: "hold"}.command(s.t)
	in, err := cmd.StdinPipe()
	must(s.t, err)
	out, err := cmd.StdoutPipe()
	must(s.t, err)
	must(s.t, cmd.Start())
	line := make([]byte, 8)
	if _, err := out.Read(line); err != nil || !strings.HasPrefix(string(line), "holding") {
		s.t.Fatalf("the holder said %q, %v", line, err)
	}
	ended := false
	letGo = func() {
		if !ended {
			ended = true
			must(s.t, errors.Join(in.Close(), cmd.Wait()))
		}
	}
	s.t.Cleanup(letGo)
	return letGo
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
