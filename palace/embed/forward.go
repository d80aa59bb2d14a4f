package embed

import (
	"context"
	"math"

	"castellan/palace/simd"
)

// scratch is the memory for one text on its way, used again for the next. Every
// block has rows for a whole number of tiles.
type scratch struct {
	x, qkv, context, sum, inner, scores []float32
	keys, values                        simd.Matrix
}

// block is memory for rows of the given width, with room for the tile at its
// end. It may hold anything.
func block(p *[]float32, rows, width int) []float32 {
	need := simd.Padded(rows, simd.TileRows)*width + simd.TileCols
	if cap(*p) < need {
		*p = make([]float32, need)
	}
	*p = (*p)[:need]
	return *p
}

// forward computes the vector of a text: the mean of what the last layer makes
// of its tokens, of length 1. There are at least 1 and at most n.places ids.
//
// Chroma fills each text up to 256 tokens and masks what it added, which changes
// nothing but the time it takes: here each has its own length.
func (n *network) forward(ctx context.Context, ids []int32, s *scratch) ([]float32, error) {
	h, rows := n.Hidden, len(ids)
	x := block(&s.x, rows, h)
	clear(x)
	for i, id := range ids {
		row, word := x[i*h:][:h], n.words[int(id)*h:][:h]
		for j, p := range n.positions[i*h:][:h] {
			row[j] = word[j] + p
		}
	}
	n.normRows(x, rows, n.norm)
	for i := range n.layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n.layer(&n.layers[i], rows, s)
	}
	return n.pool(x, rows), nil
}

// layer turns s.x into what the layer makes of it.
func (n *network) layer(l *layer, rows int, s *scratch) {
	h, heads := n.Hidden, n.Heads
	width := h / heads
	x := s.x
	qkv := block(&s.qkv, rows, 3*h)
	l.qkv.apply(qkv, x, nil, rows)
	mixed := block(&s.context, rows, h)
	clear(mixed)
	stride := simd.Padded(rows, simd.TileCols)
	scores := block(&s.scores, rows, stride)
	scale := float32(1 / math.Sqrt(float64(width)))
	for head := range heads {
		at := head * width
		s.keys.PackTransposed(qkv[h+at:], width, rows, 3*h)
		s.values.Pack(qkv[2*h+at:], rows, width, 3*h)
		clear(scores)
		s.keys.MulAdd(scores, stride, qkv[at:], 3*h, rows)
		for i := range rows {
			simd.Softmax(scores[i*stride:][:simd.Padded(rows, 16)], rows, scale)
		}
		s.values.MulAdd(mixed[at:], h, scores, stride, rows)
	}
	sum := block(&s.sum, rows, h)
	l.out.apply(sum, mixed, x, rows)
	n.normRows(sum, rows, l.afterOut)
	inner := block(&s.inner, rows, n.inner)
	l.up.apply(inner, sum, nil, rows)
	simd.GELU(inner[:simd.Padded(rows*l.up.matrix.Cols(), 16)])
	l.down.apply(x, inner, sum, rows)
	n.normRows(x, rows, l.afterAll)
}

// apply sets dst to the product of a and the matrix, plus the bias, plus what is
// given besides.
func (l *linear) apply(dst, a, plus []float32, rows int) {
	in, out := l.matrix.Rows(), l.matrix.Cols()
	for i := range simd.Padded(rows, simd.TileRows) {
		row := dst[i*out:][:out]
		if plus == nil || i >= rows {
			copy(row, l.bias)
			continue
		}
		add := plus[i*out:][:out]
		for j, b := range l.bias {
			row[j] = b + add[j]
		}
	}
	l.matrix.MulAdd(dst, out, a, in, rows)
}

// normRows brings each row to mean 0 and variance 1, then to the scale and place
// of the norm.
func (n *network) normRows(x []float32, rows int, norm layerNorm) {
	h := n.Hidden
	for i := range rows {
		row := x[i*h:][:h]
		mean := simd.Dot(row, n.ones) / float32(h)
		for j := range row {
			row[j] -= mean
		}
		variance := simd.Dot(row, row) / float32(h)
		by := float32(1 / math.Sqrt(float64(variance+n.Epsilon)))
		weight, bias := norm.weight[:h], norm.bias[:h]
		for j := range row {
			row[j] = row[j]*by*weight[j] + bias[j]
		}
	}
}

// pool is Chroma's: the mean in float64 and its length 1, where a mean of zeros
// is divided by something tiny and not by nothing.
func (n *network) pool(x []float32, rows int) []float32 {
	sum := make([]float64, n.Hidden)
	for i := range rows {
		for j, v := range x[i*n.Hidden:][:n.Hidden] {
			sum[j] += float64(v)
		}
	}
	square := 0.0
	for j := range sum {
		sum[j] /= float64(rows)
		square += sum[j] * sum[j]
	}
	length := math.Sqrt(square)
	if length == 0 {
		length = 1e-12
	}
	vector := make([]float32, n.Hidden)
	for j := range sum {
		vector[j] = float32(sum[j] / length)
	}
	return vector
}
