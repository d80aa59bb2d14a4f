package simd

import "unsafe"

// TileRows and TileCols are the size of the block of a matrix product that a
// kernel computes at once, on every machine.
const (
	TileRows = 12
	TileCols = 32
)

// Matrix is the right side of a product, laid out for the kernels: panels of
// TileCols columns, each from the first row to the last, the last panel filled
// up with zeros. The zero value is a matrix without rows.
type Matrix struct {
	rows, cols int
	data       []float32
}

// Rows is the number of rows.
func (m *Matrix) Rows() int { return m.rows }

// Cols is the number of columns, without the filling.
func (m *Matrix) Cols() int { return m.cols }

// Padded is n rounded up to a multiple of block.
func Padded(n, block int) int { return (n + block - 1) / block * block }

// Pack lays out rows by cols floats, where that of row r and column c is
// src[r*stride+c]. The memory of an earlier Pack is used again.
func (m *Matrix) Pack(src []float32, rows, cols, stride int) {
	m.size(rows, cols)
	for from := 0; from < cols; from += TileCols {
		n := min(TileCols, cols-from)
		panel := m.data[from*rows : (from+TileCols)*rows]
		for r := range rows {
			line := panel[r*TileCols : (r+1)*TileCols]
			copy(line, src[r*stride+from:][:n])
			clear(line[n:])
		}
	}
}

// PackTransposed is Pack for a source that lies column by column: the float of
// row r and column c is src[c*stride+r].
func (m *Matrix) PackTransposed(src []float32, rows, cols, stride int) {
	m.size(rows, cols)
	for from := 0; from < cols; from += TileCols {
		n := min(TileCols, cols-from)
		panel := m.data[from*rows : (from+TileCols)*rows]
		if n < TileCols {
			clear(panel)
		}
		for c := range n {
			for r, x := range src[(from+c)*stride:][:rows] {
				panel[r*TileCols+c] = x
			}
		}
	}
}

func (m *Matrix) size(rows, cols int) {
	if rows < 0 || cols < 0 {
		panic("simd: a matrix of negative size")
	}
	m.rows, m.cols = rows, cols
	if need := rows * Padded(cols, TileCols); cap(m.data) < need {
		m.data = make([]float32, need)
	} else {
		m.data = m.data[:need]
	}
}

// MulAdd adds the product of a and the matrix to dst, both row by row with the
// strides given. n is how many rows of a there are; both slices must reach to
// the end of row Padded(n, TileRows) and dst for Padded(Cols, TileCols) columns
// there, or MulAdd panics. What lies in dst behind the n rows is spoilt; behind
// the columns zero times a is added.
func (m *Matrix) MulAdd(dst []float32, dstStride int, a []float32, aStride, n int) {
	if n <= 0 || m.cols == 0 || m.rows == 0 {
		return
	}
	last := Padded(n, TileRows) - 1
	if dstStride < 0 || aStride < 0 ||
		len(a) < last*aStride+m.rows || len(dst) < last*dstStride+Padded(m.cols, TileCols) {
		panic("simd: the factors of a product do not fit")
	}
	for from := 0; from < m.cols; from += TileCols {
		panel := unsafe.SliceData(m.data[from*m.rows:])
		for row := 0; row < n; row += TileRows {
			active.tile(unsafe.SliceData(dst[row*dstStride+from:]), dstStride, unsafe.SliceData(a[row*aStride:]), aStride, panel, m.rows)
		}
	}
}
