package exact

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"castellan/palace/backend"
)

// Hit is one record that a search has found.
type Hit struct {
	backend.Record
	// Distance is 1 minus the cosine, from 0 to 2: smaller is nearer.
	Distance float64
}

// Search compares a vector with every record that matches and gives the k
// nearest, nearest first and ties in the order of insertion. Vectors of another
// size than the collection's are passed over. The distance to or from a vector
// of zeros is 1.
//
// Distances are rounded to float32, in which MemPalace computes them: it sees
// ties where it does.
func (c *Collection) Search(ctx context.Context, vector []float32, k int, f backend.Filter, include backend.Include) ([]Hit, error) {
	if err := refuse(f); err != nil {
		return nil, err
	}
	if why := checkVector(vector); why != "" {
		return nil, fmt.Errorf("searching %q in %s: %s", c.info.Name, c.palace.dir, why)
	}
	var hits []Hit
	err := c.ask(ctx, func(q query, in collection) error {
		hits = nil
		if in.info.Dimension == nil {
			return nil
		}
		if want := *in.info.Dimension; want != len(vector) {
			return &DimensionMismatchError{Palace: c.palace.dir, Collection: in.info.Name, Want: want, Got: len(vector)}
		}
		best := nearest{k: k}
		length := norm(vector)
		s := scan{query: q, in: in, filter: f, condition: q.push(f), include: backend.Embeddings, after: first}
		err := s.run(ctx, func(r row) bool {
			if r.vector != nil {
				best.offer(ranked{r.rowid, distance(vector, length, r.vector)})
			}
			return k > 0
		})
		if err != nil {
			return err
		}
		list := best.sorted()
		records, err := recordsAt(ctx, q, in, list, include)
		if err != nil {
			return err
		}
		for i, r := range list {
			hits = append(hits, Hit{records[i], float64(r.score)})
		}
		return nil
	})
	return hits, err
}

// distance compares with a stored vector: little-endian float32, of the length
// of v. Products of finite float32 cannot leave the range of a float64.
func distance(v []float32, length float64, stored []byte) float32 {
	var dot, square float64
	for i, f := range v {
		s := float64(math.Float32frombits(binary.LittleEndian.Uint32(stored[4*i:])))
		dot += float64(f) * s
		square += s * s
	}
	cos := 0.0
	if d := length * math.Sqrt(square); d > 0 {
		cos = min(max(dot/d, -1), 1)
	}
	return float32(1 - cos)
}

func norm(v []float32) float64 {
	var square float64
	for _, f := range v {
		square += float64(f) * float64(f)
	}
	return math.Sqrt(square)
}

// ranked is a row with what it is ordered by: less is better.
type ranked struct {
	rowid int64
	score float32
}

// better puts NaN last, as numpy does: a damaged vector is near to nothing.
func better(a, b ranked) int {
	switch x, y := a.score != a.score, b.score != b.score; {
	case x && !y:
		return 1
	case y && !x:
		return -1
	}
	return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.rowid, b.rowid))
}

// nearest keeps the k best of what it is offered, in a list that is cut back
// when it has grown to twice that.
type nearest struct {
	k    int
	list []ranked
}

func (n *nearest) offer(r ranked) {
	n.list = append(n.list, r)
	if len(n.list)/2 > n.k+32 {
		n.cut()
	}
}

func (n *nearest) cut() {
	slices.SortFunc(n.list, better)
	n.list = n.list[:min(max(n.k, 0), len(n.list))]
}

func (n *nearest) sorted() []ranked {
	n.cut()
	return n.list
}

// recordsAt reads the records of these rows, in the order of the list.
func recordsAt(ctx context.Context, q query, in collection, list []ranked, include backend.Include) ([]backend.Record, error) {
	at := make(map[int64]int, len(list))
	for i, r := range list {
		at[r.rowid] = i
	}
	records := make([]backend.Record, len(list))
	for chunk := range slices.Chunk(list, batch) {
		args := make([]any, len(chunk))
		for i, r := range chunk {
			args[i] = r.rowid
		}
		s := scan{query: q, in: in, condition: condition{exact: true}, include: include}
		_, err := s.rows(ctx, condition{sql: inList("rowid", len(args)), args: args}, func(r row) bool {
			records[at[r.rowid]] = r.record(include)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return records, nil
}
