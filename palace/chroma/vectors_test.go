package chroma

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/hnswlib"

	"github.com/google/go-cmp/cmp"
)

func vectorsOf(t testing.TB, c *Collection) map[string][]float32 {
	t.Helper()
	m := map[string][]float32{}
	err := c.EachVector(t.Context(), func(id string, v []float32) error {
		m[id] = v
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A repair puts vectors back into the queue under new numbers; the records
// keep their old ones.
func TestVectorsPutBackIntoTheQueueAreFound(t *testing.T) {
	dir := sample(t, "synced")
	p := open(t, dir)
	c := collection(t, p, "mempalace_drawers")
	want := vectorsOf(t, c)
	segment := filepath.Join(dir, c.vectors)
	alter(t, dir, "DELETE FROM max_seq_id WHERE segment_id = '"+c.vectors+"'", "DELETE FROM embeddings_queue WHERE seq_id < 2851")
	for _, id := range slices.Sorted(maps.Keys(want))[:50] {
		enqueue(t, dir, c.row.Topic(), OpAdd, id, want[id], "{}")
	}
	alter(t, dir, "UPDATE max_seq_id SET seq_id = (SELECT max(seq_id) FROM embeddings_queue)")
	if err := os.RemoveAll(segment); err != nil {
		t.Fatal(err)
	}
	got := vectorsOf(t, c)
	if len(got) != 50 {
		t.Fatalf("%d vectors", len(got))
	}
	for id, v := range got {
		if d := cmp.Diff(want[id], v); d != "" {
			t.Fatal(d)
		}
	}
	list := walk(t, c, backend.Query{Include: backend.Embeddings})
	if len(list) != 2395 {
		t.Error("records without a vector are no error, and not left out")
	}
}

func TestAMetadataOnlyUpdateKeepsTheOlderVector(t *testing.T) {
	dir := sample(t, "fresh")
	p := open(t, dir)
	c := collection(t, p, "mempalace_drawers")
	want := vectorsOf(t, c)
	first := walk(t, c, backend.Query{})[0].ID
	enqueue(t, dir, c.row.Topic(), OpUpdate, first, nil, `{"a":1}`)
	alter(t, dir, "UPDATE embeddings SET seq_id = 6 WHERE id = 1", "UPDATE max_seq_id SET seq_id = 6")
	if d := cmp.Diff(want, vectorsOf(t, c)); d != "" {
		t.Error(d)
	}
	enqueue(t, dir, c.row.Topic(), OpUpsert, first, vectorOf(5), `{}`)
	if d := cmp.Diff(vectorOf(5), vectorsOf(t, c)[first]); d != "" {
		t.Error(d)
	}
}

func TestAnUnreadableIndexLeavesTheQueuesVectors(t *testing.T) {
	for name, harm := range map[string]func(dir string) error{
		"metadata cut":  func(dir string) error { return os.Truncate(filepath.Join(dir, hnswlib.PickleFile), 100) },
		"metadata zero": func(dir string) error { return os.Truncate(filepath.Join(dir, hnswlib.PickleFile), 0) },
		"header cut":    func(dir string) error { return os.Truncate(filepath.Join(dir, hnswlib.HeaderFile), 50) },
		"no level 0":    func(dir string) error { return os.Remove(filepath.Join(dir, hnswlib.Level0File)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := sample(t, "synced")
			c := collection(t, open(t, dir), "mempalace_drawers")
			whole := vectorsOf(t, c)
			if err := harm(filepath.Join(dir, c.vectors)); err != nil {
				t.Fatal(err)
			}
			var unreadable *IndexError
			got := map[string][]float32{}
			err := c.EachVector(t.Context(), func(id string, v []float32) error {
				got[id] = v
				return nil
			})
			if !errors.As(err, &unreadable) || unreadable.Dir != filepath.Join(dir, c.vectors) {
				t.Fatalf("not told: %v", err)
			}
			// 21 adds and 5 updates with a vector came after the last flush.
			if len(got) != 25 && len(got) != 26 {
				t.Errorf("%d vectors", len(got))
			}
			for id, v := range got {
				if d := cmp.Diff(whole[id], v); d != "" {
					t.Fatal(id, d)
				}
			}
			if list := walk(t, c, backend.Query{Include: everyPart}); len(list) != 2395 {
				t.Errorf("%d records", len(list))
			}
		})
	}
}

func TestAShortIndexGivesWhatItHas(t *testing.T) {
	dir := sample(t, "synced")
	c := collection(t, open(t, dir), "mempalace_drawers")
	whole := vectorsOf(t, c)
	if err := os.Truncate(filepath.Join(dir, c.vectors, hnswlib.Level0File), 1676*1000); err != nil {
		t.Fatal(err)
	}
	got := vectorsOf(t, c)
	if len(got) == 0 || len(got) > 1025 {
		t.Errorf("%d vectors of 1000 elements and the queue", len(got))
	}
	for id, v := range got {
		if d := cmp.Diff(whole[id], v); d != "" {
			t.Fatal(id, d)
		}
	}
}

func TestACosineVectorWithoutItsLengthIsAUnitVector(t *testing.T) {
	dir := sample(t, "synced")
	c := collection(t, open(t, dir), "mempalace_drawers")
	if err := os.Remove(filepath.Join(dir, c.vectors, hnswlib.LengthFile)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, v := range vectorsOf(t, c) {
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if math.Abs(sum-1) > 1e-4 {
			continue // from the queue, as it was sent
		}
		n++
	}
	if n < 2300 {
		t.Errorf("%d unit vectors", n)
	}
}

func TestVectorsOfAnotherDimensionAreNotPassedOff(t *testing.T) {
	dir := sample(t, "synced")
	alter(t, dir, "UPDATE collections SET dimension = 768")
	c := collection(t, open(t, dir), "mempalace_drawers")
	if got := vectorsOf(t, c); len(got) != 0 {
		t.Errorf("%d vectors of 384 in a collection of 768", len(got))
	}
}

func TestASegmentNameLeadsNowhereElse(t *testing.T) {
	for _, name := range []string{"../synced", "..", "/etc", "", "a/b"} {
		c := &Collection{p: &Palace{dir: "/palace"}, vectors: name}
		if dir := c.indexDir(); dir != "/palace/no-segment" {
			t.Errorf("%q leads to %s", name, dir)
		}
	}
}

func TestAnIndexThatChangesIsReadAgain(t *testing.T) {
	dir := sample(t, "synced")
	c := collection(t, open(t, dir), "mempalace_drawers")
	vectorsOf(t, c)
	segment := filepath.Join(dir, c.vectors)
	if err := os.Rename(segment, segment+".away"); err != nil {
		t.Fatal(err)
	}
	without := vectorsOf(t, c)
	if err := os.Rename(segment+".away", segment); err != nil {
		t.Fatal(err)
	}
	if with := vectorsOf(t, c); len(without) >= len(with) || len(with) != 2395 {
		t.Error(len(without), len(with))
	}
}

func TestIDTableFindsEachIDAndNoOther(t *testing.T) {
	labels, at := map[string]uint64{}, map[uint64]uint32{}
	for i := range 1000 {
		labels[fmt.Sprint("id", i)] = uint64(i)
		if i%10 != 0 {
			at[uint64(i)] = uint32(2 * i)
		}
	}
	table := newIDTable(labels, at)
	for i := range 1000 {
		internal, ok := table.find(fmt.Sprint("id", i))
		if ok != (i%10 != 0) || ok && internal != 2*i {
			t.Errorf("id%d: %d, %v", i, internal, ok)
		}
	}
	for _, id := range []string{"", "id", "id1000", "zzz"} {
		if _, ok := table.find(id); ok {
			t.Errorf("found %q", id)
		}
	}
	if _, ok := (idTable{}).find("x"); ok {
		t.Error("found in nothing")
	}
}
