//go:build interop

package palace_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/backend"
	"castellan/palace/chroma"
)

// Both make a palace at one path in the same moment. Whoever comes second finds
// what the first has made, or is told so; what is there at last serves both.
func TestAPalaceThatBothMakeAtOnceServesBoth(t *testing.T) {
	t.Parallel()
	for kind, name := range kindNames {
		home, err := filepath.EvalSymlinks(t.TempDir())
		must(t, err)
		cmd := peer(t, home, "make", name, drawers)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		must(t, err)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewReader(out)
		answer := func() string {
			t.Helper()
			line, err := lines.ReadString('\n')
			must(t, err)
			return strings.TrimSpace(line)
		}
		if got := answer(); got != "ready" {
			t.Fatal(got)
		}
		outcomes := map[string]int{}
		for round := range 6 {
			s := site{home: home, palace: filepath.Join(home, fmt.Sprint("palace", round)), kind: kind}
			m := s.manager(t)
			if _, err := fmt.Fprintln(in, s.palace); err != nil {
				t.Fatal(err)
			}
			p, err := m.Create(t.Context(), s.palace, kind)
			var occupied *palace.OccupiedError
			var refused *chroma.RefusedError
			switch theirs := answer(); {
			case theirs != "made" && !strings.HasPrefix(theirs, "MineAlreadyRunning"):
				t.Errorf("%s, round %d: MemPalace says %q", kind, round, theirs)
			case err == nil:
				outcomes["ours"]++
			case errors.As(err, &occupied), errors.As(err, &refused):
				outcomes["theirs"]++
			case errors.As(err, new(*locks.HeldError)):
				outcomes["theirs, under its lock"]++
			default:
				t.Errorf("%s, round %d: we are told %v", kind, round, err)
			}
			p, err = m.Open(t.Context(), backend.Ref{Path: s.palace})
			must(t, err)
			w, err := p.Writer(t.Context(), drawers)
			if errors.As(err, new(*backend.CollectionNotFoundError)) {
				w, err = p.CreateCollection(t.Context(), backend.NewCollection{Name: drawers})
			}
			must(t, err)
			text, vector := "ours", make([]float32, 384)
			vector[0] = 1
			must(t, w.Upsert(t.Context(), []backend.Record{{ID: "ours", Document: &text, Embedding: vector, Metadata: backend.Metadata{"wing": "w"}}}))
			must(t, p.Close())
			if round == 0 {
				if got := said(t, peer(t, home, "write", name, s.palace, drawers, "theirs")); got != "written" {
					t.Errorf("%s: %s", kind, got)
				}
				if a := s.ask(t); a.Count != 2 || len(a.Missed) > 0 {
					t.Errorf("%s: it counts %d, not found: %q", kind, a.Count, a.Missed)
				}
			}
		}
		must(t, in.Close())
		must(t, cmd.Wait())
		t.Logf("%s: %v", kind, outcomes)
	}
}
