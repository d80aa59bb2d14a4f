package chroma

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCoverageComparesSetsNotCounts(t *testing.T) {
	c := newCoverage(0)
	for i := range 100 {
		c.addIndexed(fmt.Sprint("id", i), false)
	}
	for i := 10; i < 110; i++ {
		c.addLive(fmt.Append(nil, "id", i))
	}
	got := c.result()
	if got.Live != 100 || got.Indexed != 100 || got.Missing != 10 || got.Stale != 10 || got.Searchable != 90 {
		t.Fatalf("equal counts hid ten ids each way: %+v", got)
	}
}

func TestReplayFollowsChromaForEveryOperation(t *testing.T) {
	c := newCoverage(0)
	c.addIndexed("kept", false)
	c.addIndexed("updated", false)
	c.addIndexed("textOnly", false)
	c.addIndexed("gone", false)
	c.addIndexed("back", false)
	for _, w := range []struct {
		op     Operation
		id     string
		vector bool
	}{
		{OpAdd, "kept", true},         // known: ignored, stays in the index
		{OpUpdate, "updated", true},   // newest vector only in the queue
		{OpUpdate, "textOnly", false}, // metadata only
		{OpUpdate, "unknown", true},   // unknown: ignored
		{OpDelete, "gone", false},
		{OpDelete, "back", false},
		{OpAdd, "back", true},
		{OpUpsert, "new", true},
		{OpUpsert, "bare", false}, // an upsert without a vector brings none
		{OpDelete, "never", false},
	} {
		c.replay(w.op, w.id, w.vector)
	}
	for _, id := range []string{"kept", "updated", "textOnly", "back", "new", "bare"} {
		c.addLive([]byte(id))
	}
	want := Coverage{Live: 6, Indexed: 5, Queued: 3, Searchable: 5, Missing: 1, MissingIDs: []string{"bare"}}
	if d := cmp.Diff(want, c.result()); d != "" {
		t.Fatal(d)
	}
}

func TestCoverageKeepsTheFirstFewIDsWhateverTheOrder(t *testing.T) {
	c := newCoverage(0)
	for i := 99; i >= 0; i-- {
		c.addLive(fmt.Appendf(nil, "id%02d", i))
	}
	got := c.result()
	if len(got.MissingIDs) != sampleIDs || got.MissingIDs[0] != "id00" || got.MissingIDs[9] != "id09" || got.Missing != 100 {
		t.Fatalf("%+v", got)
	}
}

func TestAVectorThatNoPathLeadsToIsNotSearchable(t *testing.T) {
	c := newCoverage(0)
	for _, id := range []string{"lost", "filed again", "added again", "deleted", "deleted and back", "gone"} {
		c.addIndexed(id, true)
	}
	c.addIndexed("found", false)
	for range 2 { // a second look must see the same
		c.reset()
		c.replay(OpUpsert, "filed again", true)
		c.replay(OpAdd, "added again", true) // Chroma knows the id, and leaves it
		c.replay(OpDelete, "deleted", false)
		c.replay(OpDelete, "deleted and back", false)
		c.replay(OpAdd, "deleted and back", true)
		for _, id := range []string{"lost", "filed again", "added again", "deleted and back", "found"} {
			c.addLive([]byte(id))
		}
		r := c.result()
		want := Coverage{Live: 5, Indexed: 7, Queued: 2, Searchable: 3, Missing: 2, Unreachable: 2, MissingIDs: []string{"added again", "lost"}}
		if !reflect.DeepEqual(r, want) {
			t.Fatalf("%+v\nwant %+v", r, want)
		}
	}
}
