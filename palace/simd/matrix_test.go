package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// product is one multiplication with the answer of arithmetic in float64.
type product struct {
	m, k, n            int
	aStride, dstStride int
	a, b, dst          []float32
	want, abs          []float64
	packed, transposed Matrix
}

func newProduct(rng *rand.Rand, m, k, n int) *product {
	p := &product{m: m, k: k, n: n, aStride: k + rng.IntN(5), dstStride: Padded(n, TileCols) + rng.IntN(5)}
	fill := func(size int) []float32 {
		list := make([]float32, size)
		for i := range list {
			list[i] = float32(rng.NormFloat64())
		}
		return list
	}
	p.a, p.b = fill(Padded(m, TileRows)*p.aStride+k), fill(k*n)
	p.dst = fill(Padded(m, TileRows)*p.dstStride + TileCols)
	p.want, p.abs = make([]float64, m*n), make([]float64, m*n)
	flipped := make([]float32, k*n)
	for r := range k {
		for c := range n {
			flipped[c*k+r] = p.b[r*n+c]
		}
	}
	for i := range m {
		for j := range n {
			sum := float64(p.dst[i*p.dstStride+j])
			abs := math.Abs(sum)
			for r := range k {
				x := float64(p.a[i*p.aStride+r]) * float64(p.b[r*n+j])
				sum += x
				abs += math.Abs(x)
			}
			p.want[i*n+j], p.abs[i*n+j] = sum, abs
		}
	}
	p.packed.Pack(p.b, k, n, n)
	p.transposed.PackTransposed(flipped, k, n, k)
	return p
}

// mul is Matrix.MulAdd with a kernel of the test's choice.
func (p *product) mul(k kernel, b *Matrix, dst []float32) {
	for from := 0; from < p.n; from += TileCols {
		for row := 0; row < p.m; row += TileRows {
			k.tile(ptr(dst[row*p.dstStride+from:]), p.dstStride, ptr(p.a[row*p.aStride:]), p.aStride, ptr(b.data[from*p.k:]), p.k)
		}
	}
}

func TestEveryKernelMultipliesAsArithmeticSays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, kern kernel) {
		rng := rand.New(rand.NewPCG(7, 8))
		for _, s := range [][3]int{{1, 1, 1}, {1, 384, 32}, {5, 7, 3}, {12, 32, 32}, {13, 33, 33}, {24, 2, 64}, {25, 64, 97}, {40, 384, 384}, {11, 200, 16}} {
			p := newProduct(rng, s[0], s[1], s[2])
			for _, b := range []*Matrix{&p.packed, &p.transposed} {
				dst := append([]float32(nil), p.dst...)
				p.mul(kern, b, dst)
				for i := range p.m {
					for j := range p.n {
						got, want := dst[i*p.dstStride+j], p.want[i*p.n+j]
						if !near(got, want, p.abs[i*p.n+j], p.k) {
							t.Fatalf("%v: row %d, column %d is %v, arithmetic says %v", s, i, j, got, want)
						}
					}
				}
			}
		}
	})
}

// Whole numbers have exact sums, so the exported product must hit them; and
// what lies between the rows is left as it was.
func TestAProductStaysInItsRows(t *testing.T) {
	t.Parallel()
	const m, k, n = 14, 9, 40
	stride := Padded(n, TileCols) + 3
	a := make([]float32, Padded(m, TileRows)*k)
	b := make([]float32, k*n)
	for i := range a {
		a[i] = float32(i % 7)
	}
	for i := range b {
		b[i] = float32(i % 5)
	}
	var packed Matrix
	packed.Pack(b, k, n, n)
	if packed.Rows() != k || packed.Cols() != n {
		t.Fatalf("%d by %d", packed.Rows(), packed.Cols())
	}
	dst := make([]float32, Padded(m, TileRows)*stride)
	for i := range dst {
		dst[i] = 0.5
	}
	packed.MulAdd(dst, stride, a, k, m)
	for i := range m {
		for j := range stride {
			want := 0.5
			if j < n {
				for r := range k {
					want += float64(a[i*k+r]) * float64(b[r*n+j])
				}
			}
			if got := dst[i*stride+j]; float64(got) != want {
				t.Fatalf("row %d, column %d is %v, not %v", i, j, got, want)
			}
		}
	}
}

func TestAMatrixPackedAgainForgetsWhatItWas(t *testing.T) {
	t.Parallel()
	var m Matrix
	ones := make([]float32, 64*64)
	for i := range ones {
		ones[i] = 1
	}
	m.Pack(ones, 64, 64, 64)
	for name, pack := range map[string]func(){
		"rows":    func() { m.Pack(ones, 3, 2, 2) },
		"columns": func() { m.PackTransposed(ones, 3, 2, 3) },
	} {
		pack()
		dst := make([]float32, TileRows*TileCols)
		m.MulAdd(dst, TileCols, ones, 3, 1)
		if dst[0] != 3 || dst[1] != 3 || dst[2] != 0 || dst[31] != 0 {
			t.Errorf("%s: %v", name, dst[:TileCols])
		}
	}
}

func TestFactorsThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	var m Matrix
	m.Pack(make([]float32, 4*4), 4, 4, 4)
	for name, fn := range map[string]func(){
		"a too short":   func() { m.MulAdd(make([]float32, 12*32), 32, make([]float32, 11*4), 4, 1) },
		"dst too short": func() { m.MulAdd(make([]float32, 12*32-1), 32, make([]float32, 12*4), 4, 12) },
		"softmax":       func() { Softmax(make([]float32, 17), 17, 1) },
		"softmax past":  func() { Softmax(make([]float32, 16), 17, 1) },
		"gelu":          func() { GELU(make([]float32, 15)) },
		"negative size": func() { m.Pack(nil, -1, 1, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: not refused", name)
				}
			}()
			fn()
		}()
	}
}

func BenchmarkMulAdd(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 10))
	const rows, k, n = 204, 384, 1536
	p := newProduct(rng, 12, k, n)
	a, dst := make([]float32, rows*k), make([]float32, rows*n)
	can := detect()
	list := []candidate{{plain, nil}}
	list = append(list, kernels()...)
	for _, c := range list {
		if c.runs != nil && !c.runs(can) {
			continue
		}
		b.Run(fmt.Sprint(c.name), func(b *testing.B) {
			for b.Loop() {
				for from := 0; from < n; from += TileCols {
					for row := 0; row < rows; row += TileRows {
						c.tile(ptr(dst[row*n+from:]), n, ptr(a[row*k:]), k, ptr(p.packed.data[from*k:]), k)
					}
				}
			}
			b.ReportMetric(2*rows*k*n*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
