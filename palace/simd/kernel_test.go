package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// each runs the test for the plain twin and for every kernel that this machine
// can run.
func each(t *testing.T, fn func(t *testing.T, k kernel)) {
	t.Helper()
	list := []kernel{plain}
	can := detect()
	for _, c := range kernels() {
		if c.runs(can) {
			list = append(list, c.kernel)
		}
	}
	for _, k := range list {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			fn(t, k)
		})
	}
}

// lengths are all short ones, with every tail of every loop, and a few long
// ones; 384 is what MiniLM makes.
func lengths() []int {
	var list []int
	for n := range 101 {
		list = append(list, n)
	}
	return append(list, 127, 128, 129, 383, 384, 385, 768, 1023, 1536, 4099)
}

// vectors of n floats that start at any of 16 places of a cache line, with
// something behind the end that shows in the sum if it is read.
func vectors(rng *rand.Rand, n, shift int, value func() float32) (a, b []float32) {
	a = make([]float32, shift+n+16)
	b = make([]float32, shift+n+16)
	for i := range a {
		a[i], b[i] = 1e30, 1e30
	}
	for i := range n {
		a[shift+i], b[shift+i] = value(), value()
	}
	return a[shift : shift+n], b[shift : shift+n]
}

// exactDot and exactL2 sum in float64, and give also the sum of the absolute
// terms, which bounds the error of any order of addition.
func exactDot(a, b []float32) (sum, abs float64) {
	for i := range a {
		p := float64(a[i]) * float64(b[i])
		sum += p
		abs += math.Abs(p)
	}
	return sum, abs
}

func exactL2(a, b []float32) (sum, abs float64) {
	for i := range a {
		// The difference itself is rounded to float32 by every kernel.
		d := float64(a[i] - b[i])
		sum += d * d
	}
	return sum, sum
}

// near allows what rounding in float32 may do to n terms.
func near(got float32, want, abs float64, n int) bool {
	const half = 1.0 / (1 << 24)
	return math.Abs(float64(got)-want) <= float64(n+4)*half*abs+math.SmallestNonzeroFloat32*float64(n+1)
}

func TestEveryKernelComputesWhatArithmeticSays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kernel) {
		rng := rand.New(rand.NewPCG(1, 2))
		values := map[string]func() float32{
			"normal":    func() float32 { return float32(rng.NormFloat64()) },
			"all sizes": func() float32 { return float32(rng.NormFloat64() * math.Pow(10, float64(rng.IntN(24)-12))) },
			"denormal":  func() float32 { return math.Float32frombits(rng.Uint32() & 0x807fffff) },
			"tiny by 1": func() float32 { return float32(math.Ldexp(rng.Float64(), -70)) },
		}
		for name, value := range values {
			for _, n := range lengths() {
				a, b := vectors(rng, n, rng.IntN(16), value)
				want, abs := exactDot(a, b)
				if got := k.dot(ptr(a), ptr(b), n); !near(got, want, abs, n) {
					t.Errorf("%s, %d floats: dot is %v, arithmetic says %v", name, n, got, want)
				}
				want, abs = exactL2(a, b)
				if got := k.l2(ptr(a), ptr(b), n); !near(got, want, abs, n) {
					t.Errorf("%s, %d floats: squared distance is %v, arithmetic says %v", name, n, got, want)
				}
			}
		}
	})
}

// Small whole numbers have exact sums whatever the order, so that one wrong or
// forgotten element shows.
func TestEveryElementCountsOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kernel) {
		for _, n := range lengths() {
			a, b := make([]float32, n), make([]float32, n)
			for i := range a {
				a[i], b[i] = 1, 1
			}
			if got := k.dot(ptr(a), ptr(b), n); got != float32(n) {
				t.Errorf("dot of %d ones is %v", n, got)
			}
			for i := range a {
				a[i] = 3
				if got := k.dot(ptr(a), ptr(b), n); got != float32(n+2) {
					t.Errorf("%d ones, a 3 at %d: dot is %v", n, i, got)
				}
				if got := k.l2(ptr(a), ptr(b), n); got != 4 {
					t.Errorf("%d ones, a 3 at %d: squared distance is %v", n, i, got)
				}
				a[i] = 1
			}
		}
	})
}

func TestInfinitiesAndNaNsComeThrough(t *testing.T) {
	t.Parallel()
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	each(t, func(t *testing.T, k kernel) {
		for n := 1; n <= 100; n++ {
			for at := range n {
				for _, c := range []struct {
					x, y    float32
					dot, l2 float64
				}{
					{inf, 1, math.Inf(1), math.Inf(1)},
					{-inf, 1, math.Inf(-1), math.Inf(1)},
					{inf, 0, math.NaN(), math.Inf(1)},
					{inf, inf, math.Inf(1), math.NaN()},
					{inf, -inf, math.Inf(-1), math.Inf(1)},
					{nan, 1, math.NaN(), math.NaN()},
					{1, nan, math.NaN(), math.NaN()},
					{math.MaxFloat32, math.MaxFloat32, math.Inf(1), 0},
				} {
					a, b := make([]float32, n), make([]float32, n)
					a[at], b[at] = c.x, c.y
					if got := k.dot(ptr(a), ptr(b), n); !alike(got, c.dot) {
						t.Fatalf("%v by %v at %d of %d: dot is %v", c.x, c.y, at, n, got)
					}
					if got := k.l2(ptr(a), ptr(b), n); !alike(got, c.l2) {
						t.Fatalf("%v from %v at %d of %d: squared distance is %v", c.x, c.y, at, n, got)
					}
				}
			}
		}
	})
}

func alike(got float32, want float64) bool {
	return math.IsNaN(want) && math.IsNaN(float64(got)) || float64(got) == want
}

func TestABatchIsBitForBitOneByOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kernel) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, n := range lengths() {
			for _, rows := range []int{0, 1, 2, 3, 7} {
				q, _ := vectors(rng, n, rng.IntN(16), func() float32 { return float32(rng.NormFloat64()) })
				all, _ := vectors(rng, n*rows, rng.IntN(16), func() float32 { return float32(rng.NormFloat64()) })
				dst := make([]float32, rows+1)
				dst[rows] = 42
				k.dots(ptr(dst), ptr(q), ptr(all), n, rows)
				for i := range rows {
					one := k.dot(ptr(q), ptr(all[i*n:]), n)
					if math.Float32bits(dst[i]) != math.Float32bits(one) {
						t.Fatalf("%d rows of %d floats: row %d is %v in the batch and %v alone", rows, n, i, dst[i], one)
					}
				}
				if dst[rows] != 42 {
					t.Fatalf("%d rows of %d floats: wrote behind the answer", rows, n)
				}
			}
		}
	})
}

func TestTheMachineGetsTheBestItCanRun(t *testing.T) {
	t.Parallel()
	if k := best(features{}); k.name != plain.name {
		t.Errorf("a machine with nothing runs %s", k.name)
	}
	can := detect()
	for _, c := range kernels() {
		if c.runs(can) {
			if Kernel() != c.name {
				t.Errorf("this machine can run %s and runs %s", c.name, Kernel())
			}
			return
		}
	}
	if Kernel() != plain.name {
		t.Errorf("this machine has no kernel and runs %s", Kernel())
	}
}

func TestUnequalLengthsAreRefused(t *testing.T) {
	t.Parallel()
	for name, fn := range map[string]func(){
		"Dot":      func() { Dot(make([]float32, 3), make([]float32, 4)) },
		"L2":       func() { L2(make([]float32, 4), make([]float32, 3)) },
		"DotBatch": func() { DotBatch(make([]float32, 2), make([]float32, 3), make([]float32, 5)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took vectors of different lengths", name)
				}
			}()
			fn()
		}()
	}
}

func TestEmptyVectors(t *testing.T) {
	t.Parallel()
	if d, l := Dot(nil, nil), L2(nil, []float32{}); d != 0 || l != 0 {
		t.Errorf("dot %v, squared distance %v", d, l)
	}
	dst := []float32{7, 7}
	DotBatch(dst, nil, nil)
	if dst[0] != 0 || dst[1] != 0 {
		t.Errorf("dots of empty rows are %v", dst)
	}
	DotBatch(nil, []float32{1}, nil)
}

func TestNorm(t *testing.T) {
	t.Parallel()
	if n := Norm([]float32{3, 0, -4}); n != 5 {
		t.Errorf("norm of (3, 0, -4) is %v", n)
	}
}

func BenchmarkKernels(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n, rows = 384, 64
	q, _ := vectors(rng, n, 0, rng.Float32)
	all, _ := vectors(rng, n*rows, 0, rng.Float32)
	dst := make([]float32, rows)
	can := detect()
	list := []kernel{plain}
	for _, c := range kernels() {
		if c.runs(can) {
			list = append(list, c.kernel)
		}
	}
	for _, k := range list {
		b.Run(fmt.Sprintf("dot/%s", k.name), func(b *testing.B) {
			for b.Loop() {
				k.dot(ptr(q), ptr(all), n)
			}
		})
		b.Run(fmt.Sprintf("l2/%s", k.name), func(b *testing.B) {
			for b.Loop() {
				k.l2(ptr(q), ptr(all), n)
			}
		})
		b.Run(fmt.Sprintf("batch/%s", k.name), func(b *testing.B) {
			for b.Loop() {
				k.dots(ptr(dst), ptr(q), ptr(all), n, rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
