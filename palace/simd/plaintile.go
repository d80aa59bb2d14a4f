package simd

import "unsafe"

// tilePlain adds to TileRows rows of c the product of as many rows of a with a
// panel of k rows. The strides count floats.
func tilePlain(c *float32, cstride int, a *float32, astride int, b *float32, k int) {
	for i := range TileRows {
		row := unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(a), 4*i*astride)), k)
		sums := (*[TileCols]float32)(unsafe.Add(unsafe.Pointer(c), 4*i*cstride))
		panel := unsafe.Slice(b, k*TileCols)
		for _, x := range row {
			line := (*[TileCols]float32)(panel)
			for j := 0; j < TileCols; j += 4 {
				sums[j] += x * line[j]
				sums[j+1] += x * line[j+1]
				sums[j+2] += x * line[j+2]
				sums[j+3] += x * line[j+3]
			}
			panel = panel[TileCols:]
		}
	}
}
