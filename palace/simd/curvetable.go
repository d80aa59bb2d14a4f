//go:build amd64 || arm64

package simd

// curveTable holds the constants of the curves, each as often as the widest
// load of the kernels that take them from memory reads it. The kernels know
// the places: constant i lies 32*i bytes in. Nothing writes to it.
//
//lint:ignore U1000 assembly reads it
var curveTable = spread(
	lowest,                                // 0
	exp6, exp5, exp4, exp3, exp2, exp1, 1, // 1 to 7
	-geluEnd, geluEnd, // 8, 9
	geluP5, geluP4, geluP3, geluP2, geluP1, geluP0, // 10 to 15
	geluQ5, geluQ4, geluQ3, geluQ2, geluQ1, // 16 to 20
	0.5, // 21
)

func spread(all ...float32) (table [22][8]float32) {
	for i, x := range all {
		for j := range table[i] {
			table[i][j] = x
		}
	}
	return table
}
