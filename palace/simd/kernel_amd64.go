package simd

import "golang.org/x/sys/cpu"

// features are what the processor and the operating system offer together: a
// register that the system does not save may not be used.
type features struct{ avx512, avx2 bool }

func detect() features {
	return features{
		avx512: cpu.X86.HasAVX512F,
		avx2:   cpu.X86.HasAVX2 && cpu.X86.HasFMA,
	}
}

// kernels lists the best first.
func kernels() []candidate {
	return []candidate{
		{kernel{"AVX-512", dotAVX512, l2AVX512, dotsAVX512, tileAVX512, softmaxAVX512, geluAVX512}, func(f features) bool { return f.avx512 }},
		{kernel{"AVX2", dotAVX2, l2AVX2, dotsAVX2, tileAVX2, softmaxAVX2, geluAVX2}, func(f features) bool { return f.avx2 }},
	}
}

//go:noescape
func dotAVX512(a, b *float32, n int) float32

//go:noescape
func l2AVX512(a, b *float32, n int) float32

//go:noescape
func dotsAVX512(dst, q, r *float32, n, rows int)

//go:noescape
func dotAVX2(a, b *float32, n int) float32

//go:noescape
func l2AVX2(a, b *float32, n int) float32

//go:noescape
func dotsAVX2(dst, q, r *float32, n, rows int)

//go:noescape
func tileAVX512(c *float32, cstride int, a *float32, astride int, b *float32, k int)

//go:noescape
func quarterAVX2(c *float32, cstride int, a *float32, astride int, b *float32, k int)

func tileAVX2(c *float32, cstride int, a *float32, astride int, b *float32, k int) {
	tileOfQuarters(quarterAVX2, c, cstride, a, astride, b, k)
}

//go:noescape
func softmaxAVX512(x *float32, n int, scale float32)

//go:noescape
func geluAVX512(x *float32, n int)

//go:noescape
func softmaxAVX2(x *float32, n int, scale float32)

//go:noescape
func geluAVX2(x *float32, n int)
