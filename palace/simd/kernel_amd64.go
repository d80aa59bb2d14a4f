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
		{kernel{"AVX-512", dotAVX512, l2AVX512, dotsAVX512}, func(f features) bool { return f.avx512 }},
		{kernel{"AVX2", dotAVX2, l2AVX2, dotsAVX2}, func(f features) bool { return f.avx2 }},
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
