//go:build interop && unix

package specimen

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// event is one line of testdata/probe.py.
type event struct {
	Trying string
	Step   string
	OK     bool
	Value  json.RawMessage
	Error  string
}

// probed is what a process with chromadb got out of a palace.
type probed struct {
	events map[string]event
	steps  []string
	// died is how the process ended, if it did not end by itself, and during
	// which step.
	died, during string
}

// ok reports whether a step was taken and gave no error.
func (p probed) ok(step string) bool { return p.events[step].OK }

// value of a step; the zero value when it failed.
func value[T any](t *testing.T, p probed, step string) (v T) {
	t.Helper()
	e := p.events[step]
	if !e.OK || e.Value == nil {
		return v
	}
	if err := json.Unmarshal(e.Value, &v); err != nil {
		t.Fatalf("%s: %s: %v", step, e.Value, err)
	}
	return v
}

// String is every step in short.
func (p probed) String() string {
	var b strings.Builder
	for _, step := range p.steps {
		e := p.events[step]
		if e.OK {
			fmt.Fprintf(&b, "  %s: %s\n", step, e.Value)
		} else {
			fmt.Fprintf(&b, "  %s: %.150s\n", step, e.Error)
		}
	}
	if p.died != "" {
		fmt.Fprintf(&b, "  died in %q: %s\n", p.during, p.died)
	}
	return b.String()
}

// nobody is an account that owns nothing.
const nobody = 65534

// probe runs testdata/probe.py on a palace in a process of its own, since some
// palaces kill it. unprivileged drops root for it.
func probe(t *testing.T, mode, dir string, k known, unprivileged bool) probed {
	t.Helper()
	python := os.Getenv("CASTELLAN_PYTHON")
	if python == "" {
		t.Skip("CASTELLAN_PYTHON does not name a python with chromadb 1.5.9")
	}
	b, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "castellan-probe")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	facts := filepath.Join(home, "known.json")
	if err := os.WriteFile(facts, b, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "testdata/probe.py", mode, dir, facts)
	cmd.Env = append(os.Environ(), "ANONYMIZED_TELEMETRY=False", "HOME="+home)
	if unprivileged && os.Geteuid() == 0 {
		cmd.Env = append(cmd.Env, fmt.Sprint("PROBE_UID=", nobody))
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	p := probed{events: map[string]event{}}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("the probe said %q", lines.Text())
		}
		if e.Trying != "" {
			p.during = e.Trying
			continue
		}
		p.events[e.Step] = e
		p.steps = append(p.steps, e.Step)
	}
	var exit *exec.ExitError
	switch {
	case err == nil && p.ok("end"):
	case ctx.Err() != nil:
		p.died = "no answer within two minutes"
	case errors.As(err, &exit) && !strings.Contains(stderr.String(), "Traceback"):
		p.died = exit.String()
	default:
		t.Fatalf("the probe itself failed: %v\n%s", err, stderr.String())
	}
	return p
}
