package hnswlib_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
)

const palaces = "../../testdata/palaces"

// segments are the vector segments of the palaces a real Chroma wrote.
func segments(t testing.TB, palace string) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(palaces, palace, "palace", "*", hnswlib.HeaderFile))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no segments in %s: %v", palace, err)
	}
	for i := range dirs {
		dirs[i] = filepath.Dir(dirs[i])
	}
	return dirs
}

func open(t testing.TB, dir string) *hnswlib.Reader {
	t.Helper()
	r, err := hnswlib.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestHeaderOfARealSegmentIsReadFieldByField(t *testing.T) {
	t.Parallel()
	want := hnswlib.Header{
		Version: 1, Capacity: 4096, Elements: 2540, ElementSize: 1676, LabelOffset: 1668, DataOffset: 132,
		MaxLevel: 4, EntryPoint: 1310, MaxM: 16, MaxM0: 32, M: 16, Mult: 0.36067376022224085, EfConstruction: 100,
	}
	h := open(t, segments(t, "synced")[0]).Header()
	if h != want || h.Dimension() != 384 {
		t.Errorf("read %+v\nwant %+v", h, want)
	}
	if faults := h.Check(384); faults != nil {
		t.Errorf("faults in a real header: %v", faults)
	}
	empty := open(t, segments(t, "fresh")[0]).Header()
	if want := hnswlib.NewHeader(384, 16, 100, 100); empty != want {
		t.Errorf("read %+v\nwant %+v", empty, want)
	}
	b, err := os.ReadFile(filepath.Join(segments(t, "synced")[0], hnswlib.HeaderFile))
	if err != nil || string(h.Append(nil)) != string(b) {
		t.Errorf("written back the header differs: %x, %v", h.Append(nil), err)
	}
}

// The shapes people take for damage: never flushed, shorter than the capacity,
// an empty link_lists.bin without elements, tombstones.
func TestSegmentsOfARealChromaHaveNoFaults(t *testing.T) {
	t.Parallel()
	for _, palace := range []string{"fresh", "healthy", "synced"} {
		for _, dir := range segments(t, palace) {
			for _, sample := range []int{0, 1, 100} {
				f, err := open(t, dir).ExamineWith(context.Background(), hnswlib.Exam{Dimension: 384, Sample: sample, Cosine: true})
				if err != nil || f.Faults != nil || f.Short != 0 {
					t.Errorf("%s, sample %d: %v, %v", palace, sample, f.Faults, err)
				}
				if palace != "synced" && (f.Header.Elements != 0 || f.Header.MaxLevel != -1 || f.Files.Pickle.Present) {
					t.Errorf("%s was flushed: %+v", palace, f)
				}
			}
		}
	}
	f, err := open(t, segments(t, "synced")[0]).ExamineWith(context.Background(), hnswlib.Exam{Dimension: 384, Cosine: true})
	if err == nil && (f.Reach == nil || f.Reach.Reached != 2540 || f.Norms == nil || f.Norms.Checked != 2540 || f.Norms.Worst != 0 || f.Degrees.Max > 32 || f.Degrees.Min < 1) {
		t.Errorf("%+v %+v %+v", f.Reach, f.Norms, f.Degrees)
	}
	if err != nil || f.Examined != 2540 || f.Sampled || f.Deleted != 160 || f.Header.Capacity != 4096 ||
		f.Links.Records != 2540 || f.Links.Bytes != 20972 || f.Links.MaxLevel != int(f.Header.MaxLevel) ||
		f.Links.EntryLevel != f.Links.MaxLevel || !f.Files.Pickle.Present || f.LinkRatio > 0.01 || f.LinkRatio == 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestLabelsThatAreNotDeletedAreThoseOfThePickle(t *testing.T) {
	t.Parallel()
	dir := segments(t, "synced")[0]
	m, err := pickle.ReadFile(context.Background(), filepath.Join(dir, hnswlib.PickleFile))
	if err != nil {
		t.Fatal(err)
	}
	byLabel := make(map[uint64]string)
	for id, label := range m.IDs {
		byLabel[label] = id
	}
	live, deleted, last := 0, 0, -1
	err = open(t, dir).Labels(context.Background(), func(internal int, label uint64, dead bool) error {
		if internal != last+1 {
			t.Fatalf("element %d after %d", internal, last)
		}
		last = internal
		_, known := byLabel[label]
		switch {
		case dead && known:
			t.Errorf("element %d is deleted, its label %d is in the pickle", internal, label)
		case !dead && !known:
			t.Errorf("element %d: label %d is not in the pickle", internal, label)
		case dead:
			deleted++
		default:
			live++
		}
		return nil
	})
	if err != nil || live != len(m.IDs) || deleted != 160 {
		t.Errorf("%d live, %d deleted, %d ids: %v", live, deleted, len(m.IDs), err)
	}
}

// answers is the part of expected.json that shows vectors.
type answers struct {
	Sample struct {
		IDs        []string    `json:"ids"`
		Embeddings [][]float64 `json:"embeddings"`
	} `json:"sample_get"`
	Queries []struct {
		Query     []float64 `json:"query"`
		IDs       []string  `json:"ids"`
		Distances []float64 `json:"distances"`
	} `json:"queries"`
}

// What the server answered for a vector is the stored one times its norm, and
// the distances it measured are those to the stored vectors.
func TestVectorsAreThoseTheServerAnswered(t *testing.T) {
	t.Parallel()
	dir := segments(t, "synced")[0]
	m, err := pickle.ReadFile(context.Background(), filepath.Join(dir, hnswlib.PickleFile))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Collections []answers `json:"collections"`
	}
	b, err := os.ReadFile(filepath.Join(palaces, "synced", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &expected); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	at := make(map[uint64]int)
	if err := r.Labels(context.Background(), func(i int, label uint64, _ bool) error { at[label] = i; return nil }); err != nil {
		t.Fatal(err)
	}
	samples, distances := 0, 0
	v := make([]float32, 384)
	stored := func(id string) (internal int, ok bool) {
		label, ok := m.IDs[id]
		if !ok {
			return 0, false // its vector waits in the queue
		}
		if err := r.Vector(at[label], v); err != nil {
			t.Fatal(err)
		}
		return at[label], true
	}
	sample := expected.Collections[0].Sample
	for n, id := range sample.IDs {
		internal, ok := stored(id)
		if !ok {
			continue
		}
		samples++
		norm, err := r.Norm(internal)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range v {
			if got := float64(x * norm); math.Abs(got-sample.Embeddings[n][i]) > 1e-6 {
				t.Fatalf("%s[%d] is %v, the server said %v", id, i, got, sample.Embeddings[n][i])
			}
		}
	}
	for _, q := range expected.Collections[0].Queries {
		for n, id := range q.IDs {
			if _, ok := stored(id); !ok {
				continue
			}
			distances++
			var dot, unit, square float64
			for i, x := range v {
				dot += float64(x) * q.Query[i]
				unit += float64(x) * float64(x)
				square += q.Query[i] * q.Query[i]
			}
			if math.Abs(unit-1) > 1e-5 {
				t.Errorf("%s: the stored vector has the norm %v", id, math.Sqrt(unit))
			}
			if got := 1 - dot/math.Sqrt(square); math.Abs(got-q.Distances[n]) > 1e-5 {
				t.Errorf("%s: distance %v, the server said %v", id, got, q.Distances[n])
			}
		}
	}
	if samples < 2 || distances < 50 {
		t.Fatalf("only %d samples and %d distances could be checked", samples, distances)
	}
}
