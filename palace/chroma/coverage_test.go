package chroma

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCoverageComparesSetsNotCounts(t *testing.T) {
	c := newCoverage(0)
	for i := range 100 {
		c.addIndexed(fmt.Sprint("id", i))
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
	c.addIndexed("kept")
	c.addIndexed("updated")
	c.addIndexed("textOnly")
	c.addIndexed("gone")
	c.addIndexed("back")
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
