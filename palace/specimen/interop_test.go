//go:build interop && unix

package specimen

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// vectorsIn counts the vectors on disk: in index files wherever they lie, and
// in the queue.
func vectorsIn(dir string) (n int) {
	heads, _ := filepath.Glob(filepath.Join(dir, "*", headerFile))
	for _, name := range heads {
		b, _ := os.ReadFile(name)
		if h, err := parseHeader(b); err == nil {
			n += int(h.Count)
		}
	}
	db, err := openDatabase(dir)
	if err != nil {
		return n
	}
	defer db.Close()
	var queued int
	if db.QueryRow("SELECT count(*) FROM embeddings_queue WHERE vector IS NOT NULL").Scan(&queued) == nil {
		n += queued
	}
	return n
}

// found is the answer of the step "search".
type found struct{ Known, Found, Errors, Wrong, Ghosts int }

// session is a palace read, written and read again by three processes, with
// the number of vectors on disk before, between and after.
type session struct {
	read, write, again probed
	vectors            [3]int
}

func use(t *testing.T, dir string, k known, unprivileged bool) (s session) {
	s.vectors[0] = vectorsIn(dir)
	s.read = probe(t, "read", dir, k, unprivileged)
	s.vectors[1] = vectorsIn(dir)
	s.write = probe(t, "write", dir, k, unprivileged)
	s.vectors[2] = vectorsIn(dir)
	s.again = probe(t, "read", dir, k, unprivileged)
	return s
}

// effect is the worst that happened; well is the same questions asked of the
// sample before it fell ill.
func (s session) effect(t *testing.T, k known, well probed) Effect {
	refused := func(p probed) bool {
		return !p.ok("list") || len(k.Vectors) > 0 && !p.ok("count "+Drawers) && !p.ok("get "+Drawers) && value[found](t, p, "search").Found == 0
	}
	names := value[[]string](t, s.read, "list")
	switch {
	case s.read.died != "" || s.write.died != "" || s.again.died != "":
		return Crashes
	case s.vectors[1] < s.vectors[0] || s.vectors[2] < s.vectors[1]:
		return Loses
	case s.read.ok("list") && len(names) == 0 && len(k.Vectors) > 0:
		return Forgets
	case refused(s.read) || refused(s.again):
		return Refuses
	case len(names) == 0:
		return Works
	case s.write.ok("upsert") && !slices.Contains(value[[]string](t, s.write, "get new"), "probe"):
		return Swallows
	}
	for i, p := range []probed{s.read, s.again} { // the probe adds a drawer between
		n := k.rows + i
		right := value[int](t, p, "count "+Drawers) == n && value[int](t, p, "get "+Drawers) == n && value[int](t, p, "embeddings "+Drawers) == n
		if len(k.Vectors) > 0 {
			f := value[found](t, p, "search")
			// An approximate search may miss one in a hundred.
			right = right && f.Known == len(k.Vectors) && f.Ghosts == 0 && f.Found*100 >= (f.Known-len(k.Gone))*99
			right = right && value[int](t, p, "first query") >= min(10, n) && p.ok("filtered query")
			right = right && (len(k.Gone) > 0 || value[int](t, p, "words") == len(k.Words))
			if d, ok := well.events["distance"]; ok && d.OK {
				want, got := value[float64](t, well, "distance"), value[float64](t, p, "distance")
				right = right && (len(k.Gone) > 0 || math.Abs(want-got) < 1e-4)
			}
		}
		for _, name := range names {
			right = right && p.ok("count "+name) && p.ok("embeddings "+name)
		}
		if !right {
			return Wrong
		}
	}
	if !s.write.ok("upsert") || !slices.Contains(value[[]string](t, s.write, "find new"), "probe") {
		return Wrong
	}
	return Works
}

// lucky are the specimens over which Chroma reads memory that is not its own,
// or picks one of several at random: they may come off better than they say.
var lucky = []string{"links-empty", "links-short", "header-capacity", "header-short", "links-wild", "links-below-level", "queue-row-short-vector", "segments-doubled"}

func TestEverySpecimenHasTheEffectItNames(t *testing.T) {
	well := map[string]func() probed{}
	for _, base := range []string{"fresh", "healthy", "synced"} {
		well[base] = sync.OnceValue(func() probed {
			dir := filepath.Join(t.TempDir(), base)
			if err := CopyFS(samples, base, dir); err != nil {
				t.Fatal(err)
			}
			return probe(t, "read", dir, knownOfSample(t, dir), false)
		})
	}
	for i, s := range All() {
		// Three Pythons a specimen: all of them take half an hour.
		if testing.Short() && (s.Base != "fresh" || i%3 != 0 || slices.Contains(lucky, s.Name)) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			dir := made(t, s)
			k := knownOf(t, s, dir)
			forbidden := strings.HasSuffix(s.Name, "-forbidden")
			if forbidden && os.Geteuid() == 0 {
				giveAway(t, filepath.Dir(dir))
			}
			var healthy probed
			if w := well[s.Base]; w != nil {
				healthy = w()
			}
			run := use(t, dir, k, forbidden)
			got := run.effect(t, k, healthy)
			if got != s.Effect && !slices.Contains(lucky, s.Name) {
				t.Errorf("%s, not %s; vectors on disk %v, %d drawers acknowledged, %d gone\nread\n%swrite\n%sread again\n%s",
					got, s.Effect, run.vectors, k.rows, len(k.Gone), run.read, run.write, run.again)
			} else {
				t.Logf("%s", got)
			}
		})
	}
}

// giveAway makes dir and all in it nobody's, and lets nobody in.
func giveAway(t *testing.T, dir string) {
	t.Helper()
	for p := dir; p != filepath.Clean(os.TempDir()) && p != "/"; p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(p, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestChromaTakesAGeneratedPalace(t *testing.T) {
	for name, spec := range map[string]Spec{
		"indexed":   {Rows: 2500, Dimension: 64, DocumentChars: 200, Queued: 70, Closets: 40, SmallWings: 3},
		"unflushed": {Rows: 2500, Dimension: 64, DocumentChars: 200, Unflushed: true, Closets: 40},
		"flushed":   {Rows: 1000, Dimension: 384, Closets: 1001},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := generated(t, spec)
			s := Sickness{Base: "empty"}
			k := knownOf(t, s, dir)
			if len(k.Vectors) < 100 || k.rows != spec.Rows {
				t.Fatalf("%d vectors, %d rows known", len(k.Vectors), k.rows)
			}
			c := probe(t, "sqlite", dir, k, false)
			if value[string](t, c, "integrity") != "ok" || !c.ok("text index") {
				t.Errorf("the C library says\n%s", c)
			}
			run := use(t, dir, k, false)
			if got := run.effect(t, k, probed{}); got != Works {
				t.Errorf("%s\nread\n%swrite\n%sread again\n%s", got, run.read, run.write, run.again)
			}
			if n := value[int](t, run.read, "embeddings "+Closets); n != spec.Closets {
				t.Errorf("%d closets of %d", n, spec.Closets)
			}
		})
	}
}
