package simd

// features: every arm64 machine that Go runs on has NEON.
type features struct{ neon bool }

func detect() features { return features{neon: true} }

func kernels() []candidate {
	return []candidate{
		{kernel{"NEON", dotNEON, l2NEON, dotsNEON, tileNEON, softmaxNEON, geluNEON}, func(f features) bool { return f.neon }},
	}
}

//go:noescape
func dotNEON(a, b *float32, n int) float32

//go:noescape
func l2NEON(a, b *float32, n int) float32

//go:noescape
func dotsNEON(dst, q, r *float32, n, rows int)

//go:noescape
func quarterNEON(c *float32, cstride int, a *float32, astride int, b *float32, k int)

func tileNEON(c *float32, cstride int, a *float32, astride int, b *float32, k int) {
	tileOfQuarters(quarterNEON, c, cstride, a, astride, b, k)
}

//go:noescape
func softmaxNEON(x *float32, n int, scale float32)

//go:noescape
func geluNEON(x *float32, n int)
