package search

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"castellan/palace/simd"
)

// BenchmarkScanBesideCompiler scans vectors in memory, and lets a C++ program do
// the same (testdata/bench/scan.cc): "of C++" is our time divided by its own,
// the quickest run of each. Without a compiler it is skipped.
func BenchmarkScanBesideCompiler(b *testing.B) {
	compiler := ""
	for _, name := range []string{"c++", "g++", "clang++"} {
		if path, err := exec.LookPath(name); err == nil {
			compiler = path
			break
		}
	}
	if compiler == "" {
		b.Skip("there is no C++ compiler to compare with")
	}
	program := filepath.Join(b.TempDir(), "scan")
	source := filepath.Join("..", "..", "testdata", "bench", "scan.cc")
	if out, err := exec.Command(compiler, "-O3", "-march=native", "-ffast-math", "-o", program, source).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	const dim, k, runs = 384, 10, 15
	for _, n := range []int{2_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("%d/%s", n, simd.Kernel()), func(b *testing.B) {
			v, q := inMemory(n, dim)
			room := make([]float32, stride)
			ours := time.Duration(1 << 62)
			scan := func() {
				start := time.Now()
				best := nearest{k: k}
				v.scan(&best, q, room, 0, "")
				ours = min(ours, time.Since(start))
			}
			for b.Loop() {
				scan()
			}
			for range runs {
				scan()
			}
			out, err := exec.Command(program, strconv.Itoa(n), strconv.Itoa(dim), strconv.Itoa(k), strconv.Itoa(runs)).Output()
			if err != nil {
				b.Fatal(err)
			}
			theirs, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(ours.Nanoseconds())/theirs, "of-C++")
			b.ReportMetric(theirs/1e6, "C++ms")
			b.ReportMetric(float64(ours.Nanoseconds())/1e6, "ms")
		})
	}
}

// inMemory makes n unit vectors in one block, and one to ask for.
func inMemory(n, dim int) (*block, []float32) {
	rng := rand.New(rand.NewPCG(1, 1))
	b := &block{space: spaceCosine, dim: dim, ids: make([]string, n), rows: make([]float32, n*dim)}
	q := make([]float32, dim)
	for i := range b.rows {
		b.rows[i] = float32(rng.NormFloat64())
	}
	for i := range n {
		prepare(b.row(i), b.row(i), spaceCosine)
		b.ids[i] = strconv.Itoa(i)
	}
	for i := range q {
		q[i] = float32(rng.NormFloat64())
	}
	prepare(q, q, spaceCosine)
	return b, q
}
