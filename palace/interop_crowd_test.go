//go:build interop

package palace_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/backend"
	"castellan/palace/health"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// python is a command of MemPalace's Python with a home of its own.
func python(t testing.TB, home string, args ...string) *exec.Cmd {
	t.Helper()
	name := os.Getenv("CASTELLAN_PYTHON")
	if name == "" {
		t.Skip("CASTELLAN_PYTHON names no Python with MemPalace")
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "ANONYMIZED_TELEMETRY=False",
		"PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1")
	return cmd
}

func peer(t testing.TB, home string, args ...string) *exec.Cmd {
	return python(t, home, append([]string{filepath.Join("testdata", "peer.py")}, args...)...)
}

// said is what a command prints.
func said(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// kindNames are the engines as peer.py names them.
var kindNames = map[backend.Kind]string{backend.Chroma: "chroma", backend.SQLiteExact: "exact"}

const drawers = "mempalace_drawers"

// site is a home with a palace that we made.
type site struct {
	home, palace string
	kind         backend.Kind
}

func newSite(t testing.TB, kind backend.Kind) site {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	s := site{home: home, palace: filepath.Join(home, ".mempalace", "palace"), kind: kind}
	m := s.manager(t)
	p, err := m.Create(t.Context(), s.palace, kind)
	must(t, err)
	_, err = p.CreateCollection(t.Context(), backend.NewCollection{Name: drawers})
	must(t, err)
	must(t, m.Close())
	return s
}

func (s site) manager(t testing.TB) *palace.Manager {
	t.Helper()
	m := palace.NewManager(palace.Options{Home: s.home, WorkDir: s.home, Env: func(string) string { return "" },
		Watch: locks.NewObserver(locks.Options{Home: s.home, SampleInterval: -1})})
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

// answers are peer.py's.
type answers struct {
	Count      int64
	IDs        []string
	Documents  []string
	Embeddings [][]float32
	Missed     []string
	Sound      []string
}

func (s site) ask(t testing.TB) (a answers) {
	t.Helper()
	must(t, json.Unmarshal([]byte(said(t, peer(t, s.home, "ask", kindNames[s.kind], s.palace, drawers))), &a))
	return a
}

// settle holds the palace against what was filed, in our words and in theirs.
func (s site) settle(t testing.TB, want palace.Filed) {
	t.Helper()
	m := s.manager(t)
	p, err := m.Open(t.Context(), backend.Ref{Path: s.palace})
	must(t, err)
	ours := func() map[string]backend.Record {
		c, err := p.Collection(t.Context(), drawers)
		must(t, err)
		list, filed := map[string]backend.Record{}, palace.Filed{}
		rows := int64(0)
		must(t, backend.Walk(t.Context(), c, backend.Query{Include: backend.Documents | backend.Embeddings}, func(r backend.Record) error {
			rows++
			list[r.ID], filed[r.ID] = r, *r.Document
			return nil
		}))
		n, err := c.Count(t.Context(), backend.Filter{})
		must(t, err)
		if n != rows || rows != int64(len(list)) {
			t.Errorf("we count %d, walk through %d, of which %d differ", n, rows, len(list))
		}
		want.Compare(t, "ours", filed)
		return list
	}
	before := ours()
	theirs := s.ask(t)
	filed := palace.Filed{}
	for i, id := range theirs.IDs {
		filed[id] = theirs.Documents[i]
		if !sameDirection(before[id].Embedding, theirs.Embeddings[i]) {
			t.Errorf("%s has one vector for us and another for them", id)
		}
	}
	want.Compare(t, "theirs", filed)
	if theirs.Count != int64(len(want))+1 || len(theirs.IDs) != len(want)+1 {
		t.Errorf("they count %d and give %d, %d were filed", theirs.Count, len(theirs.IDs), len(want)+1)
	}
	if len(theirs.Missed) > 0 {
		t.Errorf("%d records are not found by their own vectors: %q", len(theirs.Missed), theirs.Missed[:min(5, len(theirs.Missed))])
	}
	if !slices.Equal(theirs.Sound, []string{"ok"}) {
		t.Errorf("SQLite says %q", theirs.Sound)
	}
	if after := ours(); len(after) != len(before) {
		t.Errorf("%d records before they looked, %d after", len(before), len(after))
	}
	r := health.NewExaminer(health.Options{Manager: m, Observer: locks.NewObserver(locks.Options{Home: s.home})}).
		Report(t.Context(), palace.Found{Ref: p.Ref()}, health.Full)
	if r.Error != nil {
		t.Error(r.Error)
	}
	for _, f := range r.Findings {
		if f.Severity.Worse(health.Warning) {
			t.Errorf("%s: %s %+v", f.Severity, f.Code, f)
		}
	}
}

// sameDirection compares vectors of which one may have been made one long: with
// the cosine distance Chroma's index keeps them so.
func sameDirection(a, b []float32) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab/math.Sqrt(aa*bb) > 1-1e-6
}

// TestACrowdOfWritersLosesNothing: two programs of ours and the peers that are
// about, writing to one palace at the same time, each for itself.
func TestACrowdOfWritersLosesNothing(t *testing.T) {
	milliseconds := 60_000
	if testing.Short() {
		milliseconds = 8_000
	}
	t.Log(said(t, peer(t, t.TempDir(), "versions")))
	for _, c := range []struct {
		kind  backend.Kind
		peers []string
	}{{backend.Chroma, []string{"seam", "client"}}, {backend.SQLiteExact, []string{"seam"}}} {
		t.Run(string(c.kind), func(t *testing.T) {
			s := newSite(t, c.kind)
			var ends []func() (palace.Filed, error)
			for i := range 2 {
				ends = append(ends, palace.Crowd{Home: s.home, Palace: s.palace, Collection: drawers, Name: fmt.Sprint("go", i),
					Milliseconds: milliseconds, Dimension: 384, Reopen: i == 1}.Start(t))
			}
			for _, how := range c.peers {
				// The last stretch is ours alone: written through instead of queued.
				ends = append(ends, palace.StartWriter(t, peer(t, s.home, "crowd", how, kindNames[c.kind], s.palace, drawers,
					how, strconv.Itoa(milliseconds*3/4), "384")))
			}
			all := palace.Filed{}
			for i, end := range ends {
				filed, err := end()
				if err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
				t.Logf("writer %d has filed %d", i, len(filed))
				maps.Copy(all, filed)
			}
			s.settle(t, all)
		})
	}
}
