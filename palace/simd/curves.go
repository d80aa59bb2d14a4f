package simd

import (
	"math"
	"unsafe"
)

// curveBlock is what the kernels for curves take at once at most: their rows
// are a multiple of it long.
const curveBlock = 16

// Softmax turns the first n floats of row into shares of 1: exp(scale*x) over
// the sum of all of them; scale is positive. The row must be a multiple of 16 floats long, or
// Softmax panics; what stands behind n is spoilt.
func Softmax(row []float32, n int, scale float32) {
	if len(row)%curveBlock != 0 || n > len(row) {
		panic("simd: softmax of a row that is no multiple of 16 floats")
	}
	if n <= 0 {
		return
	}
	for i := n; i < len(row); i++ {
		row[i] = float32(math.Inf(-1))
	}
	active.softmax(unsafe.SliceData(row), len(row), scale*math.Log2E)
}

// GELU sets each x to x times the share of a normal distribution below x, the
// form with erf. The length must be a multiple of 16, or GELU panics.
func GELU(x []float32) {
	if len(x)%curveBlock != 0 {
		panic("simd: GELU of floats that are no multiple of 16")
	}
	if len(x) > 0 {
		active.gelu(unsafe.SliceData(x), len(x))
	}
}

// 2^f for f from -0.5 to 0.5 as a polynomial, fitted for the least relative
// error: 2e-9 before rounding.
const (
	exp1 = 0.6931471824645996
	exp2 = 0.24022646248340607
	exp3 = 0.05550328642129898
	exp4 = 0.009618489071726799
	exp5 = 0.0013399930903688073
	exp6 = 0.00015345810970757157
	// lowest is the smallest power whose result is a normal float.
	lowest = -126
)

// erf(x/√2) as x·P(x²)/Q(x²), fitted for the least error from -5.6 to 5.6:
// 2e-8 before rounding. Beyond, it is 1 in float32.
const (
	geluEnd = 5.6
	geluP0  = 0.797884443
	geluP1  = 0.0687513944
	geluP2  = 0.00941446057
	geluP3  = 0.000347691527
	geluP4  = 1.27128479e-05
	geluP5  = 4.42904287e-08
	geluQ1  = 0.252832809
	geluQ2  = 0.028939842
	geluQ3  = 0.00191295148
	geluQ4  = 7.50999103e-05
	geluQ5  = 1.18020085e-06
)

func softmaxPlain(p *float32, n int, scale float32) {
	row := unsafe.Slice(p, n)
	most := row[0]
	for _, x := range row {
		most = max(most, x)
	}
	var sum float32
	for i, x := range row {
		row[i] = power2((x - most) * scale)
		sum += row[i]
	}
	share := 1 / sum
	for i := range row {
		row[i] *= share
	}
}

// power2 is 2^y for y up to 0; below lowest it stays there.
func power2(y float32) float32 {
	// Adding and taking away a number whose last bit is 1 rounds to the nearest
	// whole one.
	const round = 3 << 22
	y = max(y, lowest)
	whole := y + round
	whole -= round
	f := y - whole
	r := (((((exp6*f+exp5)*f+exp4)*f+exp3)*f+exp2)*f+exp1)*f + 1
	return r * math.Float32frombits(uint32(int32(whole)+127)<<23)
}

func geluPlain(p *float32, n int) {
	all := unsafe.Slice(p, n)
	for i, x := range all {
		c := min(max(x, -geluEnd), geluEnd)
		t := c * c
		over := ((((geluP5*t+geluP4)*t+geluP3)*t+geluP2)*t+geluP1)*t + geluP0
		under := ((((geluQ5*t+geluQ4)*t+geluQ3)*t+geluQ2)*t+geluQ1)*t + 1
		all[i] = 0.5 * x * (1 + c*over/under)
	}
}
