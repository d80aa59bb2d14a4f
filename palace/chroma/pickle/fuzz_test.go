package pickle

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func FuzzPickle(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.pickle")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(rust(rows(3), 3))
	f.Add(python(rows(3), 3))
	f.Add(proto(3).global("os", "system").text("true").op(opTuple1, opReduce, opStop).b)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := read(b)
		if err != nil {
			var cut *TruncatedError
			var format *FormatError
			var unsafe *UnsafeError
			var shape *ShapeError
			switch {
			case errors.Is(err, ErrEmpty), errors.As(err, &shape):
			case errors.As(err, &cut) && cut.Offset == int64(len(b)):
			case errors.As(err, &format) && format.Offset < int64(len(b)):
			case errors.As(err, &unsafe) && unsafe.Offset < int64(len(b)):
			default:
				t.Errorf("error of no kind, or beyond the file of %d bytes: %#v", len(b), err)
			}
			_ = err.Error()
			return
		}
		// Every pair costs at least two bytes, and the counts agree with each other.
		if len(m.IDs)+m.LabelCount > len(b) || m.Mismatches > len(m.IDs)+m.LabelCount || m.Mismatches < 0 ||
			m.DuplicateLabels > len(m.IDs) || m.TrailingBytes >= int64(len(b)) {
			t.Errorf("%d bytes gave %+v", len(b), m)
		}
		for id, label := range m.IDs {
			if label > m.MaxLabel {
				t.Errorf("%q has label %d above the highest, %d", id, label, m.MaxLabel)
			}
		}
	})
}
