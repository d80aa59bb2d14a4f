package repair

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"castellan/palace/chroma"
	"castellan/palace/dbfile"
	"castellan/palace/hnswlib"
)

// each hands out all vectors in the order of the drawers, as they were filed.
// v is fn's to keep.
func (g *gathered) each(ctx context.Context, p *chroma.Palace, fn func(id string, v []float32) error) error {
	readers := make([]*hnswlib.Reader, len(g.dirs))
	defer func() {
		for _, r := range readers {
			if r != nil {
				r.Close()
			}
		}
	}()
	for chunk := range slices.Chunk(g.places, 500) {
		out := make([][]float32, len(chunk))
		if err := g.fromQueue(ctx, p, chunk, out); err != nil {
			return err
		}
		for dir := range g.dirs {
			if err := g.fromDir(ctx, readers, dir, chunk, out); err != nil {
				return err
			}
		}
		for i, pl := range chunk {
			if pl.src == nowhere {
				continue
			}
			if out[i] == nil {
				return fmt.Errorf("the vector of %q is gone since it was found; somebody changes the palace", pl.id)
			}
			if err := fn(pl.id, out[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gathered) fromQueue(ctx context.Context, p *chroma.Palace, chunk []place, out [][]float32) error {
	at := map[int64]int{}
	var list []string
	for i, pl := range chunk {
		if pl.src == inQueue {
			at[pl.seq] = i
			list = append(list, fmt.Sprint(pl.seq))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return p.DB().View(ctx, func(tx *dbfile.Tx) error {
		rows, err := tx.Query(ctx, "SELECT seq_id, vector FROM embeddings_queue WHERE seq_id IN ("+strings.Join(list, ",")+")")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var seq int64
			var blob []byte
			if err := rows.Scan(&seq, &blob); err != nil {
				return err
			}
			if len(blob) == 4*g.dimension {
				out[at[seq]] = floats(blob)
			}
		}
		return rows.Err()
	})
}

func (g *gathered) fromDir(ctx context.Context, readers []*hnswlib.Reader, dir int, chunk []place, out [][]float32) error {
	at := map[int]int{}
	var internals []int
	for i, pl := range chunk {
		if (pl.src == inIndex || pl.src == inTorn || pl.src == inCopy) && pl.dir == dir {
			at[pl.internal] = i
			internals = append(internals, pl.internal)
		}
	}
	if len(internals) == 0 {
		return nil
	}
	if readers[dir] == nil {
		r, err := hnswlib.Open(g.dirs[dir])
		if err != nil {
			return err
		}
		readers[dir] = r
	}
	slices.Sort(internals)
	err := readers[dir].Vectors(ctx, internals, func(internal int, v []float32) error {
		v = slices.Clone(v)
		if g.space == hnswlib.Cosine && chunk[at[internal]].src != inTorn {
			// They lie there divided by their length, which stands in a file of its
			// own; where that is lost the direction is as good.
			norm, err := readers[dir].Norm(internal)
			if err == nil && norm > 0 && !math.IsInf(float64(norm), 0) {
				for i := range v {
					v[i] *= norm
				}
			}
		}
		out[at[internal]] = v
		return nil
	})
	return err
}

func floats(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

func blobOf(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
