package hnswlib_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
	"castellan/palace/hnswlib/hnswtest"
)

func TestVectorsAndNormsComeBackAsWritten(t *testing.T) {
	t.Parallel()
	for _, cosine := range []bool{true, false} {
		s := hnswtest.Segment{Dimension: 5, M: 4, Cosine: cosine, Vectors: vectors(250, 5)}
		dir := t.TempDir()
		if err := hnswtest.Write(dir, s); err != nil {
			t.Fatal(err)
		}
		r := open(t, dir)
		// Runs, gaps, going back, the same twice, the last.
		wanted := []int{0, 1, 2, 9, 200, 199, 199, 3, 249, 0}
		norms := make([]float32, len(wanted))
		if err := r.Norms(context.Background(), wanted, norms); err != nil {
			t.Fatal(err)
		}
		n, one := 0, make([]float32, 5)
		err := r.Vectors(context.Background(), wanted, func(internal int, v []float32) error {
			if internal != wanted[n] {
				t.Fatalf("visit %d is of element %d, not %d", n, internal, wanted[n])
			}
			want, norm := s.Stored(internal)
			if err := r.Vector(internal, one); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if v[i] != want[i] || one[i] != want[i] {
					t.Errorf("element %d is %v and %v, want %v", internal, v, one, want)
				}
				if cosine && math.Abs(float64(v[i]*norms[n]-s.Vectors[internal][i])) > 1e-6 {
					t.Errorf("element %d times %v is not what was given", internal, norms[n])
				}
			}
			if single, err := r.Norm(internal); err != nil || single != norm || norms[n] != norm {
				t.Errorf("norm of %d is %v and %v, want %v, %v", internal, norms[n], single, norm, err)
			}
			n++
			return nil
		})
		if err != nil || n != len(wanted) {
			t.Errorf("%d visits: %v", n, err)
		}
	}
}

func TestElementsThatAreNotThereAreRefused(t *testing.T) {
	t.Parallel()
	dir := small(t)
	resize(t, dir, hnswlib.Level0File, 100*element+50)
	resize(t, dir, hnswlib.LengthFile, 4*90)
	r := open(t, dir)
	ctx := context.Background()
	if r.Stored() != 100 {
		t.Errorf("%d elements are stored", r.Stored())
	}
	var gone *hnswlib.ElementError
	v := make([]float32, 8)
	for _, i := range []int{-1, 100, 299, 300, math.MaxInt} {
		if err := r.Vector(i, v); !errors.As(err, &gone) || gone.Internal != i || gone.Stored != 100 {
			t.Errorf("vector %d: %v", i, err)
		}
		for _, list := range [][]int{{i}, {5, i}, {5, 6, i, 7}} {
			if err := r.Vectors(ctx, list, func(int, []float32) error { return nil }); !errors.As(err, &gone) || gone.Internal != i {
				t.Errorf("vectors %v: %v", list, err)
			}
		}
	}
	if _, err := r.Norm(90); !errors.As(err, &gone) || gone.File != hnswlib.LengthFile || gone.Stored != 90 {
		t.Errorf("norm beyond: %v", err)
	}
	if err := r.Vector(0, make([]float32, 9)); err == nil {
		t.Error("a vector of 9 floats came from an index of 8")
	}
	// What is there is given before the lack is told: it may be all that is left.
	seen := 0
	err := r.Labels(ctx, func(internal int, label uint64, _ bool) error {
		if seen++; label != uint64(seen) {
			t.Errorf("element %d has label %d", internal, label)
		}
		return nil
	})
	var short *hnswlib.ShortError
	if seen != 100 || !errors.As(err, &short) || short.Want != 300*element || short.Got != 100*element+50 {
		t.Errorf("%d labels, then %v", seen, err)
	}
	if err := os.Remove(filepath.Join(dir, hnswlib.LengthFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir).Norm(0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("norm without length.bin: %v", err)
	}
}

// Another process may cut the files at any time.
func TestFileCutWhileItIsReadIsAnErrorNotACrash(t *testing.T) {
	t.Parallel()
	dir := small(t)
	r := open(t, dir)
	resize(t, dir, hnswlib.Level0File, 1000)
	resize(t, dir, hnswlib.LinksFile, 1000)
	resize(t, dir, hnswlib.LengthFile, 10)
	ctx := context.Background()
	var short *hnswlib.ShortError
	err := r.Labels(ctx, func(int, uint64, bool) error { return nil })
	if !errors.As(err, &short) || short.File != hnswlib.Level0File || short.Got != 1000 {
		t.Errorf("labels: %v", err)
	}
	if _, err := r.WalkLinks(ctx, 0); !errors.As(err, &short) || short.File != hnswlib.LinksFile {
		t.Errorf("links: %v", err)
	}
	if _, err := r.Norm(100); !errors.As(err, &short) || short.File != hnswlib.LengthFile {
		t.Errorf("norm: %v", err)
	}
	if _, err := r.Examine(ctx, 8, 0); !errors.As(err, &short) {
		t.Errorf("examine: %v", err)
	}
}

func TestReadsStopWhenTheyAreCancelledOrToldTo(t *testing.T) {
	t.Parallel()
	r := open(t, small(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	enough := errors.New("enough")
	nothing := func(int, []float32) error { return nil }
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"labels":       {r.Labels(ctx, func(int, uint64, bool) error { return nil }), context.Canceled},
		"vectors":      {r.Vectors(ctx, []int{1}, nothing), context.Canceled},
		"labels told":  {r.Labels(context.Background(), func(int, uint64, bool) error { return enough }), enough},
		"vectors told": {r.Vectors(context.Background(), []int{1}, func(int, []float32) error { return enough }), enough},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if _, err := r.WalkLinks(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("links: %v", err)
	}
	if _, err := r.Examine(ctx, 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("examine: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Vector(0, make([]float32, 8)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
}

func TestOpeningAFIFODoesNotWait(t *testing.T) {
	t.Parallel()
	for _, name := range []string{hnswlib.HeaderFile, hnswlib.Level0File, hnswlib.LengthFile, hnswlib.LinksFile} {
		dir := small(t)
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := makeFIFO(path); err != nil {
			t.Skip("no FIFOs here")
		}
		done := make(chan error, 1)
		go func() {
			r, err := hnswlib.Open(dir)
			if err == nil {
				var f hnswlib.Facts
				if f, err = r.Examine(context.Background(), 8, 0); err == nil && len(f.Faults) == 1 && f.Faults[0].Kind == hnswlib.FaultNotRegular {
					err = &hnswlib.NotRegularError{File: f.Faults[0].File}
				}
				r.Close()
			}
			done <- err
		}()
		select {
		case err := <-done:
			var odd *hnswlib.NotRegularError
			if !errors.As(err, &odd) || odd.File != name {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: still waiting", name)
		}
	}
}

func TestSegmentsWrittenForTestsAreSound(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 99, 100, 101, 129, 1100} {
		dir := t.TempDir()
		s := hnswtest.Segment{Dimension: 3, M: 2, Cosine: n%2 == 0, Vectors: vectors(n, 3), Deleted: make([]bool, n), Rough: n > 1000}
		for i := range n {
			s.IDs = append(s.IDs, fmt.Sprint("drawer_", i))
			s.Deleted[i] = i == 99
		}
		if err := hnswtest.Write(dir, s); err != nil {
			t.Fatal(err)
		}
		f, err := open(t, dir).Examine(context.Background(), 3, 0)
		if err != nil || f.Faults != nil || f.Examined != n || f.Deleted != min(1, n/100) || f.Files.Pickle.Present != (n > 0) {
			t.Errorf("%d elements: %v, %v", n, f.Faults, err)
		}
		if n == 0 {
			continue
		}
		m, err := pickle.ReadFile(context.Background(), filepath.Join(dir, hnswlib.PickleFile))
		if err != nil || !m.Consistent() || len(m.IDs) != n-f.Deleted || m.IDs["drawer_0"] != 1 || m.TotalElementsAdded != int64(n) {
			t.Errorf("%d elements: %+v, %v", n, m, err)
		}
	}
}
