//go:build amd64 || arm64

package simd

import "unsafe"

// tileOfQuarters is a tile made by a kernel for 6 rows and 16 columns, for
// machines whose registers do not hold more.
func tileOfQuarters(quarter func(c *float32, cstride int, a *float32, astride int, b *float32, k int), c *float32, cstride int, a *float32, astride int, b *float32, k int) {
	at := func(p *float32, floats int) *float32 { return (*float32)(unsafe.Add(unsafe.Pointer(p), 4*floats)) }
	for col := 0; col < TileCols; col += 16 {
		for row := 0; row < TileRows; row += 6 {
			quarter(at(c, row*cstride+col), cstride, at(a, row*astride), astride, at(b, col), k)
		}
	}
}
