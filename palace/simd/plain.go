package simd

import (
	"math"
	"unsafe"
)

// The plain twins. Four sums run beside each other, because one sum would wait
// for each addition to finish before it starts the next.

func dotPlain(pa, pb *float32, n int) float32 {
	a, b := unsafe.Slice(pa, n), unsafe.Slice(pb, n)
	var s0, s1, s2, s3 float32
	for len(a) >= 8 && len(b) >= 8 {
		s0 += a[0]*b[0] + a[4]*b[4]
		s1 += a[1]*b[1] + a[5]*b[5]
		s2 += a[2]*b[2] + a[6]*b[6]
		s3 += a[3]*b[3] + a[7]*b[7]
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func l2Plain(pa, pb *float32, n int) float32 {
	a, b := unsafe.Slice(pa, n), unsafe.Slice(pb, n)
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		d0, d1, d2, d3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
		a, b = a[4:], b[4:]
	}
	for i := range a {
		d := a[i] - b[i]
		s0 += d * d
	}
	return (s0 + s1) + (s2 + s3)
}

func dotsPlain(dst, q, r *float32, n, rows int) {
	out := unsafe.Slice(dst, rows)
	all := unsafe.Slice(r, n*rows)
	for i := range out {
		out[i] = dotPlain(q, unsafe.SliceData(all[i*n:]), n)
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
