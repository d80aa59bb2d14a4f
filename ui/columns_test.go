package ui

import (
	"slices"
	"testing"
)

func TestFitColumns(t *testing.T) {
	t.Parallel()
	cols := []Column{
		{Title: "name", Priority: 9, Flex: true, Min: 10},
		{Title: "n", Priority: 6},
		{Title: "lock", Priority: 4, Min: 4, Max: 12},
		{Title: "state", Priority: 8},
		{Title: "id", Priority: 1, Wide: true, Min: 5},
	}
	natural := []int{19, 7, 20, 6, 36}
	for _, c := range []struct {
		what  string
		avail int
		wide  bool
		want  []int
	}{
		{"plenty: the flexible one takes the rest", 80, false, []int{49, 7, 12, 6, 0}},
		{"just enough", 50, false, []int{19, 7, 12, 6, 0}},
		{"the flexible one shrinks first", 45, false, []int{14, 7, 12, 6, 0}},
		{"then the others to their least", 34, false, []int{10, 7, 5, 6, 0}},
		{"then they go, the least important first", 32, false, []int{15, 7, 0, 6, 0}},
		{"and the next", 25, false, []int{17, 0, 0, 6, 0}},
		{"down to one", 17, false, []int{17, 0, 0, 0, 0}},
		{"which is cut at last", 4, false, []int{4, 0, 0, 0, 0}},
		{"no room", 0, false, []int{0, 0, 0, 0, 0}},
		{"less than none", -2, false, []int{0, 0, 0, 0, 0}},
		{"wide columns when asked for", 100, true, []int{31, 7, 12, 6, 36}},
		{"all at their least", 40, true, []int{10, 7, 4, 6, 5}},
		{"wide ones go first", 39, true, []int{10, 7, 10, 6, 0}},
	} {
		got := fitColumns(cols, natural, c.avail, c.wide)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	if got := fitColumns(nil, nil, 10, false); len(got) != 0 {
		t.Errorf("no columns give %v", got)
	}
}

// Widths never exceed what there is, whatever the columns ask for.
func FuzzFitColumns(f *testing.F) {
	f.Add(uint16(80), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Fuzz(func(t *testing.T, avail uint16, b []byte) {
		var cols []Column
		var natural []int
		for ; len(b) >= 4 && len(cols) < 12; b = b[4:] {
			cols = append(cols, Column{Priority: int(b[0] % 4), Min: int(b[1] % 30), Max: int(b[2] % 40), Flex: b[0] > 250, Wide: b[0]%7 == 0})
			natural = append(natural, int(b[3]))
		}
		w := int(avail % 300)
		sum, n := 0, 0
		for i, got := range fitColumns(cols, natural, w, false) {
			if got < 0 || cols[i].Wide && got > 0 {
				t.Fatalf("column %d has %d cells", i, got)
			}
			if got > 0 {
				sum += got
				n++
			}
		}
		if sum+max(n-1, 0)*columnGap > w {
			t.Fatalf("%d columns of %d cells in %d", n, sum, w)
		}
	})
}
