package hnswlib_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"castellan/palace/hnswlib"
)

// written writes the graph and returns the directory and its files.
func written(t testing.TB, g *hnswlib.Graph) (dir string, files map[string][]byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "segment")
	if err := g.Write(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	files = make(map[string][]byte)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir, files
}

// loaded loads a segment.
func loaded(t testing.TB, dir string, space hnswlib.Space) *hnswlib.Graph {
	t.Helper()
	g, err := hnswlib.Load(context.Background(), open(t, dir), space, 0)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestWrittenIndexVerifiesAndComesBackTheSame(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 99, 100, 101, 127, 128, 1500} {
		for _, space := range []hnswlib.Space{hnswlib.L2, hnswlib.Cosine, hnswlib.IP} {
			all := clustered(n, 24, 7)
			g := built(t, hnswlib.BuildOptions{Space: space, Dimension: 24, M: 6}, all)
			dir, files := written(t, g)
			o := hnswlib.VerifyOptions{Space: space, Dimension: 24, Elements: n, Queries: 30, MinRecall: 0.9}
			v, err := hnswlib.Verify(context.Background(), dir, o)
			if err != nil || v.Queries != min(n, 30) {
				t.Fatalf("%d in %s: %+v, %v", n, space, v, err)
			}
			if n > 0 && v.Recall < 0.9 {
				t.Errorf("%d in %s: recall %v", n, space, v.Recall)
			}
			again := loaded(t, dir, space)
			_, copied := written(t, again)
			for name, b := range files {
				if !bytes.Equal(copied[name], b) {
					t.Errorf("%d in %s: %s differs when it is read and written again", n, space, name)
				}
			}
			for _, q := range jittered(append(all, make([]float32, 24)), 10) {
				if a, b := search(t, g, q, 10, 50, nil), search(t, again, q, 10, 50, nil); !slices.Equal(a, b) {
					t.Errorf("%d in %s: %v after reading, %v before", n, space, b, a)
				}
			}
			h := v.Facts.Header
			if h.Capacity < 100 || h.Capacity <= uint64(n) || n > 100 && h.Capacity&(h.Capacity-1) != 0 {
				t.Errorf("%d elements have room for %d", n, h.Capacity)
			}
			if size := 6*2*4 + 4 + 24*4 + 8; len(files[hnswlib.Level0File]) != max(100, n)*size || len(files[hnswlib.LengthFile]) != 4*max(100, n) {
				t.Errorf("%d elements: %d and %d bytes", n, len(files[hnswlib.Level0File]), len(files[hnswlib.LengthFile]))
			}
		}
	}
}

// The two sizes that a real Chroma was seen to choose.
func TestCapacityGrowsAsChromas(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 100, 99: 100, 100: 128, 2540: 4096, 6033: 8192, 4096: 8192} {
		if got := hnswlib.Capacity(n); got != want {
			t.Errorf("%d elements get room for %d, not %d", n, got, want)
		}
	}
}

func TestCosineVectorsAreStoredAsUnitVectorsWithTheirNorms(t *testing.T) {
	t.Parallel()
	all := append(vectors(120, 6), make([]float32, 6)) // the last one is zero
	dir, _ := written(t, built(t, hnswlib.BuildOptions{Space: hnswlib.Cosine}, all))
	r := open(t, dir)
	v := make([]float32, 6)
	for i, want := range all {
		norm, err := r.Norm(i)
		if err == nil {
			err = r.Vector(i, v)
		}
		if err != nil {
			t.Fatal(err)
		}
		for j, x := range v {
			if d := x*norm - want[j]; d > 1e-6 || d < -1e-6 {
				t.Fatalf("vector %d times its norm is %v, not %v", i, x*norm, want[j])
			}
		}
	}
	if norm, _ := r.Norm(120); norm != 0 {
		t.Errorf("the zero vector has the norm %v", norm)
	}
}

func TestOneWorkerWritesTheSameBytesEveryTime(t *testing.T) {
	t.Parallel()
	all := clustered(1200, 16, 9)
	o := hnswlib.BuildOptions{Space: hnswlib.Cosine, Seed: 5}
	_, first := written(t, built(t, o, all))
	_, second := written(t, built(t, o, all))
	o.Seed = 6
	_, other := written(t, built(t, o, all))
	for name, b := range first {
		if !bytes.Equal(b, second[name]) {
			t.Errorf("%s differs between two builds of the same vectors", name)
		}
	}
	if bytes.Equal(first[hnswlib.LinksFile], other[hnswlib.LinksFile]) {
		t.Error("the seed decides nothing")
	}
}

func TestFilesAreTheOwnersOnlyAndNeverWrittenOver(t *testing.T) {
	t.Parallel()
	g := built(t, hnswlib.BuildOptions{Space: hnswlib.L2}, vectors(10, 4))
	dir, files := written(t, g)
	if len(files) != 4 {
		t.Errorf("%d files", len(files))
	}
	if err := g.Write(context.Background(), dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written over an index: %v", err)
	}
	for name, b := range files {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Size() != int64(len(b)) {
			t.Errorf("%s: %v", name, err)
		} else if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestNothingIsLeftOfAWriteThatWasCancelled(t *testing.T) {
	t.Parallel()
	g := built(t, hnswlib.BuildOptions{Space: hnswlib.L2}, vectors(10, 4))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := filepath.Join(t.TempDir(), "segment")
	if err := g.Write(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

func TestIndexThatDoesNotVerifyIsAnError(t *testing.T) {
	t.Parallel()
	o := hnswlib.VerifyOptions{Space: hnswlib.Cosine, Dimension: 8, Elements: 300}
	for name, c := range map[string]struct {
		damage func(dir string)
		o      func(o *hnswlib.VerifyOptions)
	}{
		"fewer elements":       {nil, func(o *hnswlib.VerifyOptions) { o.Elements = 301 }},
		"another dimension":    {nil, func(o *hnswlib.VerifyOptions) { o.Dimension = 9 }},
		"a recall beyond all":  {nil, func(o *hnswlib.VerifyOptions) { o.MinRecall, o.Ef = 1.1, 300 }},
		"a bad neighbour":      {func(dir string) { patch(t, dir, hnswlib.Level0File, 7*element+4, u32(300)...) }, nil},
		"a NaN in a vector":    {func(dir string) { patch(t, dir, hnswlib.Level0File, 7*element+68, 0xff, 0xff, 0xff, 0xff) }, nil},
		"links cut":            {func(dir string) { resize(t, dir, hnswlib.LinksFile, 1300) }, nil},
		"unreachable elements": {func(dir string) { isolate(t, dir) }, nil},
	} {
		dir := small(t)
		want := o
		want.MinRecall = 0.9
		if v, err := hnswlib.Verify(context.Background(), dir, want); err != nil {
			t.Fatalf("the sound segment: %+v, %v", v, err)
		}
		if c.damage != nil {
			c.damage(dir)
		}
		if c.o != nil {
			c.o(&want)
		}
		var unsound *hnswlib.UnsoundError
		if _, err := hnswlib.Verify(context.Background(), dir, want); !errors.As(err, &unsound) || unsound.Dir != dir {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := hnswlib.Verify(context.Background(), filepath.Join(t.TempDir(), "none"), o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// isolate takes the level-0 neighbours from all elements: what is not above that
// level cannot be reached.
func isolate(t testing.TB, dir string) {
	for i := range int64(300) {
		patch(t, dir, hnswlib.Level0File, i*element, 0, 0)
	}
}
