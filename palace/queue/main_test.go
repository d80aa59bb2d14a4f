package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"castellan/palace/backend"

	"go.uber.org/goleak"
)

// partVariable makes this test binary a second program at the same queue.
const partVariable = "QUEUE_TEST_PART"

func TestMain(m *testing.M) {
	if raw := os.Getenv(partVariable); raw != "" {
		var p part
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

// part is what the second program does.
type part struct {
	State string
	// Park so many entries, whose ids begin with Prefix.
	Park   int
	Prefix string
	Drain  string // apply to this log
	KillAt int    // die before the n-th step, counted from 1; 0 = never
}

func (p part) play(ctx context.Context) error {
	q, err := Open(p.State, testKey, Options{})
	if err != nil {
		return err
	}
	step := 0
	q.at = func(string) {
		if step++; step == p.KillAt {
			die()
		}
	}
	if err := parkAll(ctx, q, p.Prefix, p.Park); err != nil {
		return err
	}
	if p.Drain == "" {
		return nil
	}
	_, err = q.Drain(ctx, logStore{p.Drain})
	return err
}

// run plays a part in another process and tells whether it was killed.
func (p part) run(t *testing.T) (killed bool) {
	t.Helper()
	cmd := p.start(t)
	err := cmd.Wait()
	if err != nil && cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the other process: %v\n%s", err, cmd.Stderr)
	}
	return err != nil
}

func (p part) start(t *testing.T) *exec.Cmd {
	t.Helper()
	raw, err := json.Marshal(p)
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), partVariable+"="+string(raw))
	cmd.Stderr = new(strings.Builder)
	must(t, cmd.Start())
	return cmd
}

const testKey = "c77e7cd1a6f4b2f3"

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

// entries are a history: later ones mean something else when they come first.
func entry(id string, n int) Entry {
	e := Entry{ID: id, Palace: "/home/u/.mempalace/palace", Operation: Upsert, Collection: "mempalace_drawers"}
	text := fmt.Sprint("version ", n)
	switch n % 4 {
	case 3:
		e.Operation, e.IDs = Delete, []string{"b"}
	default:
		e.Records = []backend.Record{{ID: "a", Document: &text, Embedding: []float32{float32(n), 0.5}}, {ID: "b"}}
	}
	return e
}

func parkAll(ctx context.Context, q *Queue, prefix string, n int) error {
	for i := range n {
		if _, err := q.Park(ctx, entry(fmt.Sprint(prefix, i), i)); err != nil {
			return err
		}
	}
	return nil
}

// logStore is a store whose effects are lines in a file.
type logStore struct{ path string }

func (s logStore) Apply(_ context.Context, e Entry) error {
	f, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, e.ID, e.State)
	return err
}

func (s logStore) effects(t *testing.T) (list []string) {
	t.Helper()
	raw, err := os.ReadFile(s.path)
	if os.IsNotExist(err) {
		return nil
	}
	must(t, err)
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, o Options) *Queue {
	t.Helper()
	q, err := Open(filepath.Join(t.TempDir(), "castellan"), testKey, o)
	must(t, err)
	return q
}

func park(t *testing.T, q *Queue, list ...Entry) (names []string) {
	t.Helper()
	for _, e := range list {
		kept, err := q.Park(t.Context(), e)
		must(t, err)
		names = append(names, kept.Name)
	}
	return names
}

// applier is a store that keeps what it was given, and answers what refuse says.
type applier struct {
	got    []Entry
	refuse func(Entry) error
}

func (a *applier) Apply(_ context.Context, e Entry) error {
	a.got = append(a.got, e)
	if a.refuse == nil {
		return nil
	}
	return a.refuse(e)
}

func (a *applier) ids() (list []string) {
	for _, e := range a.got {
		list = append(list, e.ID)
	}
	return list
}

func wantIDs(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func listed(t *testing.T, q *Queue) []Entry {
	t.Helper()
	list, err := q.List()
	must(t, err)
	return list
}

// to is an upsert of one record to a collection.
func to(collection, id string) Entry {
	e := entry(id, 0)
	e.Collection = collection
	return e
}
