package specimen

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Everything that hnswlib relies on without checking: bounds, levels, labels,
// file sizes, and that a search from the entry point can get everywhere.
func TestAGeneratedIndexKeepsEveryRuleOfTheFormat(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 15, 16, 17, 31, 100, 255, 256, 257, 273, 4096, 4097, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "segment")
			const dimension = 4
			w, err := newIndexWriter(dir, n, dimension)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if err := w.add(fmt.Sprint("id", i), []float32{3, 0, float32(i), 4}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.finish(); err != nil {
				t.Fatal(err)
			}
			checkIndex(t, dir, n, dimension)
		})
	}
}

func checkIndex(t *testing.T, dir string, n, dimension int) {
	t.Helper()
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	h, err := parseHeader(read(headerFile))
	if err != nil {
		t.Fatal(err)
	}
	if h.Version != 1 || int(h.Count) != n || h.MaxElements < max(100, h.Count) || h.dimension() != dimension || h.ElementSize != uint64(132+4*dimension+8) {
		t.Fatalf("header %+v", h)
	}
	level0, links, lengths := read(level0File), read(linksFile), read(lengthFile)
	if want := max(100, n) * int(h.ElementSize); len(level0) != want {
		t.Fatalf("%s has %d bytes, not %d", level0File, len(level0), want)
	}
	if len(lengths) != 4*max(100, n) {
		t.Fatalf("%s has %d bytes", lengthFile, len(lengths))
	}
	levels, upper := make([]int, n), make([][][]uint32, n)
	for i := range n {
		size := int(binary.LittleEndian.Uint32(links))
		links = links[4:]
		if size%68 != 0 {
			t.Fatalf("element %d: links of %d bytes", i, size)
		}
		levels[i] = size / 68
		for b := links[:size]; len(b) > 0; b = b[68:] {
			upper[i] = append(upper[i], readList(t, b, 16))
		}
		links = links[size:]
	}
	if len(links) != 0 {
		t.Fatalf("%d bytes after the last link", len(links))
	}
	if int(h.MaxLevel) != levels[h.EntryPoint] {
		t.Errorf("the entry point has level %d, the header says %d", levels[h.EntryPoint], h.MaxLevel)
	}
	near := make([][]uint32, n)
	for i := range n {
		e := level0[i*int(h.ElementSize):]
		near[i] = readList(t, e, 32)
		if label := binary.LittleEndian.Uint64(e[h.LabelOffset:]); label != uint64(i+1) {
			t.Errorf("element %d bears label %d", i, label)
		}
		length := float64(math.Float32frombits(binary.LittleEndian.Uint32(lengths[4*i:])))
		for k, want := range []float64{3, 0, float64(i), 4} {
			got := float64(math.Float32frombits(binary.LittleEndian.Uint32(e[int(h.DataOffset)+4*k:])))
			if math.Abs(got*length-want) > 1e-3 {
				t.Errorf("element %d: component %d is %g times %g, was %g", i, k, got, length, want)
			}
		}
	}
	for l := 0; l <= int(h.MaxLevel); l++ {
		checkLevel(t, l, levels, func(i int) []uint32 {
			if l == 0 {
				return near[i]
			}
			return upper[i][l-1]
		})
	}
	p, err := readPickle(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.ids) != n || p.total != uint64(n) || p.ids[n-1] != fmt.Sprint("id", n-1) || p.labels[n-1] != uint64(n) {
		t.Errorf("pickle of %d ids, total %d", len(p.ids), p.total)
	}
}

// readList reads one list of at most limit neighbours.
func readList(t *testing.T, b []byte, limit int) []uint32 {
	t.Helper()
	n := int(binary.LittleEndian.Uint16(b))
	if n > limit {
		t.Fatalf("%d neighbours of at most %d", n, limit)
	}
	list := make([]uint32, n)
	for k := range list {
		list[k] = binary.LittleEndian.Uint32(b[4+4*k:])
	}
	return list
}

// checkLevel looks at the neighbours on one level and walks it from element 0.
func checkLevel(t *testing.T, level int, levels []int, near func(int) []uint32) {
	t.Helper()
	want := 0
	for i, l := range levels {
		if l < level {
			continue
		}
		want++
		seen := map[uint32]bool{}
		for _, j := range near(i) {
			if int(j) >= len(levels) || int(j) == i || levels[j] < level || seen[j] {
				t.Fatalf("level %d: element %d is linked to %d", level, i, j)
			}
			seen[j] = true
		}
	}
	reached, todo := map[int]bool{0: true}, []int{0}
	for len(todo) > 0 {
		i := todo[0]
		todo = todo[1:]
		for _, j := range near(i) {
			if !reached[int(j)] {
				reached[int(j)] = true
				todo = append(todo, int(j))
			}
		}
	}
	if len(reached) != want {
		t.Errorf("level %d: %d of %d elements can be reached", level, len(reached), want)
	}
}

// What Chroma wrote is the measure: read and written again it is the same but
// for the order of the ids, which Chroma takes from a hash map.
func TestThePickleIsWrittenAsChromaWritesIt(t *testing.T) {
	t.Parallel()
	const seg = "../../testdata/palaces/synced/palace/ed5a97e5-ec23-4c4c-8b23-b55d86f8dc35"
	p, err := readPickle(seg)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.ids) != 2380 || p.total != 2540 {
		t.Fatalf("%d ids, total %d", len(p.ids), p.total)
	}
	chroma, err := os.ReadFile(filepath.Join(seg, pickleFile))
	if err != nil {
		t.Fatal(err)
	}
	mine := p.bytes()
	// The first map keeps its order, so the bytes up to the second are equal.
	at := len(mine)
	for i := range mine {
		if i >= len(chroma) || mine[i] != chroma[i] {
			at = i
			break
		}
	}
	if len(mine) != len(chroma) || at < len(mine)/2 {
		t.Errorf("%d bytes, Chroma's has %d; they differ from byte %d", len(mine), len(chroma), at)
	}
	dir := t.TempDir()
	if err := writePickle(dir, p); err != nil {
		t.Fatal(err)
	}
	again, err := readPickle(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, again, cmp.AllowUnexported(pickle{})); d != "" {
		t.Error(d)
	}
}

func TestAHeaderIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	const seg = "../../testdata/palaces/synced/palace/ed5a97e5-ec23-4c4c-8b23-b55d86f8dc35"
	b, err := os.ReadFile(filepath.Join(seg, headerFile))
	if err != nil {
		t.Fatal(err)
	}
	h, err := parseHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b, h.bytes()); d != "" {
		t.Errorf("Chroma's header came out otherwise:\n%s", d)
	}
	// Ours differs only where the graph does.
	mine := newHeader(2540, 384)
	mine.MaxLevel, mine.EntryPoint = h.MaxLevel, h.EntryPoint
	if d := cmp.Diff(h, mine); d != "" {
		t.Error(d)
	}
}
