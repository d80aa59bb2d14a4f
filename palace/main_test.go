package palace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"castellan/palace/backend"
)

// peerVariable makes this test binary a second program that writes.
const peerVariable = "PALACE_TEST_PEER"

func TestMain(m *testing.M) {
	if raw := os.Getenv(peerVariable); raw != "" {
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

func goexit() { runtime.Goexit() }

// peer adds one to a number in a file so many times, each time as a write of a
// palace. Two at once would lose additions.
type peer struct {
	Home, Palace, Counter string
	Times                 int
	Crowd                 *Crowd  // write records instead
	Stress                *stress // do everything instead
}

func (p peer) play(ctx context.Context) (err error) {
	switch {
	case p.Crowd != nil:
		return p.Crowd.play(ctx)
	case p.Stress != nil:
		return p.Stress.play(ctx)
	}
	m := NewManager(Options{Home: p.Home, WorkDir: p.Home, Env: func(string) string { return "" }, LockWait: 2 * time.Minute})
	defer func() { err = errors.Join(err, m.Close()) }()
	store := &fakeStore{write: func(context.Context, string) error { return addOne(p.Counter) }}
	m.openers = map[backend.Kind]opener{backend.Chroma: func(context.Context, string) (backend.Backend, error) { return store, nil }}
	palace, err := m.Open(ctx, backend.Ref{Path: p.Palace})
	if err != nil {
		return err
	}
	w, err := palace.Writer(ctx, "drawers")
	if err != nil {
		return err
	}
	for range p.Times {
		if err := w.Upsert(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

func addOne(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return fmt.Errorf("the counter was caught half written: %w", err)
	}
	return os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600)
}

func TestProcessesWriteOneAfterAnother(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	counter := h.write("counter", "0")
	p := peer{Home: h.dir, Palace: h.palace("p", "fresh"), Counter: counter, Times: 40}
	raw, err := json.Marshal(p)
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	var others []*exec.Cmd
	for range 2 {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), peerVariable+"="+string(raw))
		cmd.Stderr = os.Stderr
		must(t, cmd.Start())
		others = append(others, cmd)
	}
	err = p.play(t.Context())
	for _, cmd := range others {
		err = errors.Join(err, cmd.Wait())
	}
	must(t, err)
	if got, _ := os.ReadFile(counter); string(got) != strconv.Itoa(3*p.Times) {
		t.Errorf("%s of %d additions are there: two wrote at once", got, 3*p.Times)
	}
}
