package pickle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func encode(t *testing.T, ids map[string]uint64, total uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, ids, total); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWrittenIDsComeBack(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 999, 1000, 1001, 2500} {
		ids := make(map[string]uint64)
		for _, r := range rows(n) {
			ids[r.id] = uint64(r.label)
		}
		total := uint64(n + 7)
		if n > 0 {
			ids["雪 \"\x00\n"] = total
		}
		b := encode(t, ids, total)
		m, err := read(b)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(m.IDs, ids) || m.TotalElementsAdded != int64(total) || !m.Consistent() || m.Missing != nil ||
			m.TrailingBytes != 0 || m.Protocol != 3 || m.SeqIDCount != 0 || m.Dimensionality != nil || m.MaxSeqID != nil {
			t.Errorf("%d ids came back as %d: %+v", n, len(m.IDs), m)
		}
		if !bytes.Equal(b, encode(t, ids, total)) {
			t.Error("the same ids gave other bytes")
		}
	}
}

// Chroma's own file and ours for the same ids differ in the order of the pairs
// only: same length, same bytes when both are sorted.
func TestWrittenFileIsMadeOfTheBytesOfChromas(t *testing.T) {
	t.Parallel()
	theirs, err := os.ReadFile(filepath.Join(synced, "index_metadata.pickle"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(context.Background(), bytes.NewReader(theirs), int64(len(theirs)))
	if err != nil {
		t.Fatal(err)
	}
	ours := encode(t, m.IDs, uint64(m.TotalElementsAdded))
	head := bytes.Index(theirs, []byte("id_to_label")) + len("id_to_label")
	if !bytes.Equal(ours[:head+3], theirs[:head+3]) {
		t.Errorf("begins with %q, theirs with %q", ours[:head+3], theirs[:head+3])
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	if !bytes.Equal(ours, theirs) {
		t.Errorf("%d bytes, theirs %d, or other ones", len(ours), len(theirs))
	}
}

func TestLabelsNoIndexCanHaveAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ids   map[string]uint64
		total uint64
	}{
		"label 0":          {map[string]uint64{"a": 0}, 3},
		"label beyond all": {map[string]uint64{"a": 4}, 3},
		"label twice":      {map[string]uint64{"a": 1, "b": 1}, 3},
		"not UTF-8":        {map[string]uint64{"\xff": 1}, 3},
		"too many":         {nil, math.MaxInt32 + 1},
	} {
		var b bytes.Buffer
		var shape *ShapeError
		if err := Encode(&b, c.ids, c.total); !errors.As(err, &shape) || b.Len() != 0 {
			t.Errorf("%s: %v, %d bytes", name, err, b.Len())
		}
	}
}

func TestFullDiskIsToldWhenIDsAreWritten(t *testing.T) {
	t.Parallel()
	ids := make(map[string]uint64)
	for i := range 5000 {
		ids[fmt.Sprint("drawer", i)] = uint64(i + 1)
	}
	full := errors.New("no space left")
	if err := Encode(refusing{full}, ids, 5000); !errors.Is(err, full) {
		t.Error(err)
	}
}

type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) { return 0, r.err }
