package simd

import "unsafe"

// kernel is one implementation of every loop. A new loop is a new field here
// and one function for each architecture; where an architecture has none, the
// plain twin stands in.
//
// The functions take bare pointers: a, b are read for n elements and nothing
// is read behind them, at any alignment; n may be 0.
type kernel struct {
	name string
	dot  func(a, b *float32, n int) float32
	l2   func(a, b *float32, n int) float32
	// dots writes the dot product of q with each of the rows of n floats that
	// stand one behind the other at r; bit for bit what dot answers.
	dots func(dst, q, r *float32, n, rows int)
	// tile adds to TileRows rows of TileCols floats at c the product of as many
	// rows of k floats at a with a panel of k rows. The strides count floats.
	tile func(c *float32, cstride int, a *float32, astride int, b *float32, k int)
	// softmax and gelu work in place on n floats, a positive multiple of
	// curveBlock. The scale is to the base 2.
	softmax func(x *float32, n int, scale float32)
	gelu    func(x *float32, n int)
}

var plain = kernel{"plain Go", dotPlain, l2Plain, dotsPlain, tilePlain, softmaxPlain, geluPlain}

// active is the kernel that runs; set once, before anything can search, and
// after that only by tests of this package.
var active = best(detect())

// best is the first of the kernels that this machine can run.
func best(can features) kernel {
	for _, k := range kernels() {
		if k.runs(can) {
			return k.kernel
		}
	}
	return plain
}

// candidate is a kernel and what it needs of the machine.
type candidate struct {
	kernel
	runs func(features) bool
}

// Kernel names the implementation in use: "AVX-512", "AVX2", "NEON" or
// "plain Go".
func Kernel() string { return active.name }

// Dot is the sum of a[i]*b[i]. The lengths must be equal; if they are not, Dot
// panics rather than read past an end. Empty vectors give 0.
func Dot(a, b []float32) float32 {
	if len(a) != len(b) {
		panic("simd: vectors of different lengths")
	}
	return active.dot(unsafe.SliceData(a), unsafe.SliceData(b), len(a))
}

// L2 is the squared Euclidean distance, the sum of (a[i]-b[i])², as hnswlib
// and Chroma report it: without the root. The lengths must be equal; if they
// are not, L2 panics.
func L2(a, b []float32) float32 {
	if len(a) != len(b) {
		panic("simd: vectors of different lengths")
	}
	return active.l2(unsafe.SliceData(a), unsafe.SliceData(b), len(a))
}

// DotBatch sets dst[i] to Dot(q, row i), where the rows stand one behind the
// other in rows: len(rows) must be len(dst)*len(q), or DotBatch panics. It is
// what an exact scan wants, for it reads memory once from front to back.
func DotBatch(dst, q, rows []float32) {
	if len(rows) != len(dst)*len(q) {
		panic("simd: rows do not fill the answer")
	}
	if len(dst) == 0 {
		return
	}
	active.dots(unsafe.SliceData(dst), unsafe.SliceData(q), unsafe.SliceData(rows), len(q), len(dst))
}

// Norm is the Euclidean length of v.
func Norm(v []float32) float32 { return sqrt(Dot(v, v)) }
