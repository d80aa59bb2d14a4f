//go:build interop

package hnswlib_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
)

// python runs testdata/interop.py and decodes what it printed.
func python(t *testing.T, into any, args ...string) {
	t.Helper()
	name := os.Getenv("CASTELLAN_PYTHON")
	if name == "" {
		t.Skip("CASTELLAN_PYTHON names no python with chromadb")
	}
	cmd := exec.CommandContext(t.Context(), name, append([]string{"testdata/interop.py"}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "ANONYMIZED_TELEMETRY=False")
	out, err := cmd.Output()
	must(t, err)
	must(t, json.Unmarshal(out, into))
}

func floats(t *testing.T, path string) [][]float32 {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	var rows [][]float32
	for ; len(b) > 0; b = b[4*384:] {
		v := make([]float32, 384)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		rows = append(rows, v)
	}
	return rows
}

type asked struct {
	IDs       [][]string  `json:"ids"`
	Distances [][]float64 `json:"distances"`
}

type used struct {
	Count, Got, Found int
	Wrong             float64
	Before, After     asked
	Allowed           []string
	Filtered          [][]string // the answers out of those allowed
}

// compare holds what chromadb answered against our search of the same files.
func (a asked) compare(t *testing.T, g *hnswlib.Graph, idOf map[uint64]string, queries [][]float32) {
	t.Helper()
	for i, q := range queries {
		hits := search(t, g, q, 10, 100, nil)
		var ids []string
		for n, h := range hits {
			ids = append(ids, idOf[h.Label])
			if d := a.Distances[i][n]; math.Abs(float64(h.Distance)-d) > 2e-6*max(1, math.Abs(d)) {
				t.Errorf("query %d: %v for the %dth, theirs %v", i, h.Distance, n, a.Distances[i][n])
			}
		}
		if !slices.Equal(ids, a.IDs[i]) {
			t.Errorf("query %d: ours %v\ntheirs %v", i, ids, a.IDs[i])
		}
	}
}

func (u used) compareFiltered(t *testing.T, g *hnswlib.Graph, idOf map[uint64]string, queries [][]float32) {
	t.Helper()
	for i, q := range queries {
		var ids []string
		for _, h := range search(t, g, q, 5, 100, func(label uint64) bool { return slices.Contains(u.Allowed, idOf[label]) }) {
			ids = append(ids, idOf[h.Label])
		}
		if len(ids) != 5 || !slices.Equal(ids, u.Filtered[i]) {
			t.Errorf("query %d: ours %v out of those allowed\ntheirs %v", i, ids, u.Filtered[i])
		}
	}
}

// labelsOf reads the pickle beside an index.
func labelsOf(t *testing.T, segment string) map[uint64]string {
	t.Helper()
	m, err := pickle.ReadFile(t.Context(), filepath.Join(segment, hnswlib.PickleFile))
	must(t, err)
	if !m.Consistent() {
		t.Errorf("%+v", m)
	}
	idOf := make(map[uint64]string)
	for id, label := range m.IDs {
		idOf[label] = id
	}
	return idOf
}

// A palace gets an index of ours in the place of Chroma's; Chroma answers from
// it as we do, grows it, writes it to disk, and we read what it wrote.
func TestChromaUsesAndGrowsAnIndexWeWrote(t *testing.T) {
	for _, c := range []struct {
		space   hnswlib.Space
		fresh   int // vectors of a palace made by chromadb now; 0: the sample
		workers int
	}{
		{hnswlib.Cosine, 0, 1}, {hnswlib.Cosine, 0, 2}, {hnswlib.L2, 700, 1}, {hnswlib.IP, 700, 2},
		{hnswlib.Cosine, 60, 1}, // which Chroma has never flushed
	} {
		t.Run(fmt.Sprintf("%d in %s by %d", c.fresh, c.space, c.workers), func(t *testing.T) {
			root := t.TempDir()
			palace, other, data := filepath.Join(root, "palace"), filepath.Join(root, "other"), filepath.Join(root, "data")
			must(t, os.Mkdir(data, 0o700))
			if c.fresh == 0 {
				must(t, os.CopyFS(palace, os.DirFS(filepath.Join(palaces, "synced", "palace"))))
			} else {
				python(t, &struct{}{}, "create", palace, c.space.String(), fmt.Sprint(c.fresh))
			}
			must(t, os.CopyFS(other, os.DirFS(palace)))
			var shown struct {
				Segment string
				Count   int
			}
			python(t, &shown, "show", other, data)
			segment := filepath.Join(palace, shown.Segment)
			adopt(t, segment, data, c.space, c.workers)
			python(t, &struct{}{}, "adopt", palace)
			usedBy(t, palace, segment, data, c.space, shown.Count)
		})
	}
}

// usedBy has chromadb check the index, add to it until it is flushed, and check
// it again in other processes.
func usedBy(t *testing.T, palace, segment, data string, space hnswlib.Space, count int) {
	queries := floats(t, filepath.Join(data, "queries.f32"))
	g, idOf := loaded(t, segment, space), labelsOf(t, segment)
	for _, step := range []struct{ from, to int }{{0, 700}, {700, 1000}, {1000, 1000}} {
		var u used
		python(t, &u, "use", palace, data, fmt.Sprint(step.from), fmt.Sprint(step.to))
		// By the inner product, a longer vector is nearer to a vector than it itself.
		found := u.Found == step.to || space == hnswlib.IP
		if u.Count != count+step.to || u.Got != count+step.from || u.Wrong > 2e-6 || !found {
			t.Errorf("%+v: it counts %d, got %d, worst %v, found %d", step, u.Count, u.Got, u.Wrong, u.Found)
		}
		if step.from == 0 {
			u.Before.compare(t, g, idOf, queries)
			u.compareFiltered(t, g, idOf, queries)
		}
	}
	r := open(t, segment)
	f, err := r.Examine(context.Background(), 384, 0)
	if err != nil || f.Faults != nil || r.Stored() < count+400 {
		t.Fatalf("what it wrote: %d elements, %v, %v", r.Stored(), f.Faults, err)
	}
	g, idOf = loaded(t, segment, space), labelsOf(t, segment)
	found := 0
	for i, v := range floats(t, filepath.Join(data, "more.f32")) {
		if hits := search(t, g, v, 1, 100, nil); idOf[hits[0].Label] == fmt.Sprint("more_", i) {
			found++
		}
	}
	if found != g.Live()-count && space != hnswlib.IP {
		t.Errorf("%d of the %d it added are found", found, g.Live()-count)
	}
}

// adopt builds an index of the vectors in data and puts it in segment's place.
func adopt(t *testing.T, segment, data string, space hnswlib.Space, workers int) {
	t.Helper()
	var ids []string
	b, err := os.ReadFile(filepath.Join(data, "ids.json"))
	must(t, err)
	must(t, json.Unmarshal(b, &ids))
	g := built(t, hnswlib.BuildOptions{Space: space, Workers: workers}, floats(t, filepath.Join(data, "vectors.f32")))
	fresh := segment + ".new"
	must(t, g.Write(t.Context(), fresh))
	v, err := hnswlib.Verify(t.Context(), fresh, hnswlib.VerifyOptions{Space: space, Dimension: 384, Elements: len(ids), MinRecall: 0.95})
	if err != nil {
		t.Fatalf("%+v, %v", v, err)
	}
	labels := make(map[string]uint64)
	for i, id := range ids {
		labels[id] = uint64(i) + 1
	}
	f, err := os.OpenFile(filepath.Join(fresh, hnswlib.PickleFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	must(t, err)
	must(t, pickle.Encode(f, labels, uint64(len(ids))))
	must(t, f.Close())
	must(t, os.RemoveAll(segment))
	must(t, os.Rename(fresh, segment))
}
