package pickle

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Wherever a file is cut, the names before the cut come back, and no other.
func TestNamesBeforeACutAreSalvaged(t *testing.T) {
	t.Parallel()
	ids := map[string]uint64{}
	for i := range 2500 { // three batches
		ids[fmt.Sprintf("drawer-%04d", i)] = uint64(i + 1)
	}
	var b bytes.Buffer
	if err := Encode(&b, ids, 2500); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "p")
	last := 0
	for cut := 0; cut <= b.Len(); cut += 997 {
		if err := os.WriteFile(path, b.Bytes()[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		got, whole, err := Salvage(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for id, label := range got {
			if ids[id] != label {
				t.Fatalf("cut at %d: %s has the label %d, want %d", cut, id, label, ids[id])
			}
		}
		if len(got) < last || whole && len(got) != len(ids) {
			t.Errorf("cut at %d: %d names, %d before, whole %v", cut, len(got), last, whole)
		}
		last = len(got)
	}
	if last != len(ids) {
		t.Errorf("%d names of %d", last, len(ids))
	}
}

func TestALabelWithTwoOwnersIsNobodys(t *testing.T) {
	t.Parallel()
	raw := "\x80\x03}(X\x0b\x00\x00\x00id_to_label}(X\x01\x00\x00\x00aK\x01X\x01\x00\x00\x00bK\x01X\x01\x00\x00\x00cK\x02uX\x0b\x00\x00\x00label_to_id}"
	path := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(path, []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	got, whole, err := Salvage(t.Context(), path)
	if err != nil || !whole || len(got) != 1 || got["c"] != 2 {
		t.Errorf("%v, %v, %v", got, whole, err)
	}
}

func FuzzSalvage(f *testing.F) {
	f.Add([]byte("\x80\x03}(X\x0b\x00\x00\x00id_to_label}(X\x01\x00\x00\x00aJ\x01\x00\x00\x00u"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "p")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _, err := Salvage(t.Context(), path); err != nil || len(got) > len(raw) {
			t.Errorf("%d names of %d bytes, %v", len(got), len(raw), err)
		}
	})
}
