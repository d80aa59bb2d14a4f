package queue

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// killEverywhere plays a part once for each step it has, killed before that
// step, each time in a queue of its own, and once to its end.
func killEverywhere(t *testing.T, prepare func(*Queue) error, p part, judge func(step int, q *Queue, store logStore)) {
	t.Helper()
	for step := 1; ; step++ {
		dir := t.TempDir()
		q, err := Open(filepath.Join(dir, "castellan"), testKey, Options{})
		must(t, err)
		store := logStore{filepath.Join(dir, "effects")}
		must(t, prepare(q))
		p.State, p.KillAt = filepath.Join(dir, "castellan"), step
		if p.Drain != "" {
			p.Drain = store.path
		}
		killed := p.run(t)
		judge(step, q, store)
		if !killed {
			if step < 10 {
				t.Errorf("only %d steps: the process was not killed where it should be", step)
			}
			t.Logf("killed at each of %d steps", step-1)
			return
		}
	}
}

// onceEach checks that each entry had its effect, in order, and that what was
// applied twice was applied twice in a row and told so.
func onceEach(t *testing.T, step int, effects []string, n int) {
	t.Helper()
	var order []string
	for i, line := range effects {
		id, state, _ := strings.Cut(line, " ")
		if i > 0 && strings.HasPrefix(effects[i-1], id+" ") {
			if State(state) != StateUnknown {
				t.Errorf("step %d: %s was applied again without a warning", step, id)
			}
			continue
		}
		order = append(order, id)
	}
	var want []string
	for i := range n {
		want = append(want, fmt.Sprint("e", i))
	}
	if !slices.Equal(order, want) {
		t.Errorf("step %d: effects %q, want %q", step, order, want)
	}
}

func TestAKillWhileParkingLosesNothingAndDoublesNothing(t *testing.T) {
	t.Parallel()
	nothing := func(*Queue) error { return nil }
	killEverywhere(t, nothing, part{Park: 3, Prefix: "e"}, func(step int, q *Queue, store logStore) {
		before := listed(t, q)
		for i, e := range before { // whole, and the first ones
			if e.State != StateWaiting || e.ID != fmt.Sprint("e", i) || e.Rows == 0 {
				t.Errorf("step %d: entry %d is %+v", step, i, e)
			}
		}
		// Whoever got no answer asks again.
		must(t, parkAll(t.Context(), q, "e", 3))
		if n := len(listed(t, q)); n != 3 {
			t.Errorf("step %d: %d entries, want 3", step, n)
		}
		d, err := q.Drain(t.Context(), store)
		must(t, err)
		if d.Applied != 3 || d.Left != 0 {
			t.Errorf("step %d: %+v", step, d)
		}
		onceEach(t, step, store.effects(t), 3)
		if len(store.effects(t)) != 3 {
			t.Errorf("step %d: effects %q", step, store.effects(t))
		}
		onlyLocks(t, q)
	})
}

func TestAKillWhileApplyingLosesNothingAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	prepare := func(q *Queue) error { return parkAll(t.Context(), q, "e", 3) }
	killEverywhere(t, prepare, part{Drain: "yes"}, func(step int, q *Queue, store logStore) {
		if d, err := q.Drain(t.Context(), store); err != nil || d.Left != 0 || len(d.SetAside) > 0 {
			t.Errorf("step %d: %+v, %v", step, d, err)
		}
		onceEach(t, step, store.effects(t), 3)
		if n := len(store.effects(t)); n > 4 {
			t.Errorf("step %d: %d effects of 3 entries after one kill", step, n)
		}
		// The next change tidies what the kill left.
		must(t, parkAll(t.Context(), q, "later", 1))
		if _, err := q.Drain(t.Context(), &applier{}); err != nil {
			t.Error(err)
		}
		onlyLocks(t, q)
	})
}

// onlyLocks checks that nothing is left of entries that are gone.
func onlyLocks(t *testing.T, q *Queue) {
	t.Helper()
	entries, err := os.ReadDir(q.Dir())
	must(t, err)
	for _, e := range entries {
		if e.Name() != queueLock && e.Name() != drainLock {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func TestProcessesParkAndApplyAtTheSameTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state, store := filepath.Join(dir, "castellan"), logStore{filepath.Join(dir, "effects")}
	const each = 25
	var others []*exec.Cmd
	prefixes := []string{"x", "y", "z"}
	for _, prefix := range prefixes {
		others = append(others, part{State: state, Park: each, Prefix: prefix}.start(t))
	}
	q, err := Open(state, testKey, Options{})
	must(t, err)
	for range 20 {
		if _, err := q.Drain(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range others {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, cmd.Stderr)
		}
	}
	if _, err := q.Drain(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	effects := store.effects(t)
	if len(effects) != each*len(prefixes) {
		t.Errorf("%d effects, want %d", len(effects), each*len(prefixes))
	}
	next := map[string]int{}
	for _, line := range effects {
		prefix := line[:1]
		if want := fmt.Sprint(prefix, next[prefix], " ", StateWaiting); line != want {
			t.Fatalf("%q where %q was next", line, want)
		}
		next[prefix]++
	}
}
