package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestEverySoftmaxIsWhatArithmeticSays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kernel) {
		rng := rand.New(rand.NewPCG(11, 12))
		for _, n := range []int{16, 32, 48, 256} {
			for _, spread := range []float64{0.01, 1, 20, 200} {
				row, want := make([]float32, n), make([]float64, n)
				most, sum := math.Inf(-1), 0.0
				for i := range row {
					row[i] = float32(rng.NormFloat64() * spread)
					most = max(most, float64(row[i]))
				}
				const scale = 0.17677669
				for i, x := range row {
					want[i] = math.Exp((float64(x) - most) * scale)
					sum += want[i]
				}
				k.softmax(ptr(row), n, scale*math.Log2E)
				for i, x := range row {
					// Rounding the exponent costs most where it is large.
					w := want[i] / sum
					if d := math.Abs(float64(x) - w); d > w*(1e-6+2e-7*math.Abs(math.Log(w))) && d > 1e-36 {
						t.Errorf("%d floats about %v: %d is %v, arithmetic says %v", n, spread, i, x, w)
					}
				}
			}
		}
	})
}

// Text is padded to the block; what stands there must take no share.
func TestPaddingTakesNoShare(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 32; n++ {
		row := make([]float32, 32)
		for i := range row {
			row[i] = 50
		}
		Softmax(row, n, 1)
		for i := range n {
			if d := math.Abs(float64(row[i]) - 1/float64(n)); d > 1e-7 {
				t.Fatalf("of %d equal floats %d has a share of %v", n, i, row[i])
			}
		}
	}
	Softmax(nil, 0, 1)
}

func TestEveryGELUIsWhatArithmeticSays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k kernel) {
		const n = 1 << 14
		x, want := make([]float32, n), make([]float64, n)
		for i := range x {
			x[i] = float32(i-n/2) / 1000
			v := float64(x[i])
			want[i] = 0.5 * v * (1 + math.Erf(v/math.Sqrt2))
		}
		k.gelu(ptr(x), n)
		for i, got := range x {
			if d := math.Abs(float64(got) - want[i]); d > 2e-6 {
				t.Fatalf("GELU of %v is %v, arithmetic says %v", float32(i-n/2)/1000, got, want[i])
			}
		}
		edge := make([]float32, 16)
		copy(edge, []float32{0, 1e30, -1e30, 1e-30, -1e-30, 1000})
		k.gelu(ptr(edge), 16)
		// Beyond the ends erf is 1 to the last bit or two.
		for i, want := range []float64{0, 1e30, 0, 0.5e-30, -0.5e-30, 1000} {
			within := 2e-7 * math.Abs(want)
			if i == 2 {
				within = 2e-7 * 1e30
			}
			if d := math.Abs(float64(edge[i]) - want); d > within {
				t.Errorf("edge %d is %v, not %v", i, edge[i], want)
			}
		}
	})
	GELU(nil)
}

func BenchmarkCurves(b *testing.B) {
	can := detect()
	list := []candidate{{plain, nil}}
	list = append(list, kernels()...)
	row := make([]float32, 208)
	for _, c := range list {
		if c.runs != nil && !c.runs(can) {
			continue
		}
		b.Run("softmax/"+c.name, func(b *testing.B) {
			for b.Loop() {
				c.softmax(ptr(row), len(row), 1)
			}
		})
		b.Run("gelu/"+c.name, func(b *testing.B) {
			for b.Loop() {
				c.gelu(ptr(row), len(row))
			}
		})
	}
}
