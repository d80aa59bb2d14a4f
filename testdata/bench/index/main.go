// Command index is our side of index.py: it makes the vectors both sides work
// on, and builds and searches an index of them.
//
//	index make N DIMENSION QUERIES FILE   vectors, queries and the true answers
//	index run FILE THREADS [DIRECTORY]    build and search; write the index
//
// FILE is three uint32 (N, dimension, queries), the vectors, the queries, and ten
// uint32 a query: its nearest vectors.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"castellan/palace/hnswlib"
	"castellan/palace/simd"
)

// set is what FILE holds.
type set struct {
	dim, count, asked int
	vectors, queries  []float32
	truth             []uint32
}

func main() {
	log.SetFlags(0)
	var err error
	switch a := os.Args[1:]; {
	case len(a) == 5 && a[0] == "make":
		err = create(number(a[1]), number(a[2]), number(a[3]), a[4])
	case len(a) >= 3 && a[0] == "run":
		err = run(a[1], number(a[2]), a[3:])
	default:
		log.Fatal("usage: index make N DIMENSION QUERIES FILE | index run FILE THREADS [DIRECTORY]")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		log.Fatalf("%q is no number of things", s)
	}
	return n
}

// create makes unit vectors of 200 clusters in a space of 48 dimensions, seen
// through a random projection: the nearest to the vectors of texts.
func create(n, dim, asked int, path string) error {
	const latent, clusters = 48, 200
	rng := rand.New(rand.NewPCG(1, 2))
	normal := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	lens, middle := normal(dim*latent), normal(clusters*latent)
	point := func(dst []float32) {
		p := normal(latent)
		c := rng.IntN(clusters)
		for i := range p {
			p[i] = middle[c*latent+i] + 0.6*p[i]
		}
		for i := range dst {
			dst[i] = simd.Dot(p, lens[i*latent:(i+1)*latent])
		}
		norm := simd.Norm(dst)
		for i := range dst {
			dst[i] /= norm
		}
	}
	s := set{dim: dim, count: n, asked: asked, vectors: make([]float32, n*dim), queries: make([]float32, asked*dim)}
	for i := range n {
		point(s.vectors[i*dim : (i+1)*dim])
	}
	dots, order := make([]float32, n), make([]uint32, n)
	for i := range asked {
		q := s.queries[i*dim : (i+1)*dim]
		point(q)
		simd.DotBatch(dots, q, s.vectors)
		for j := range order {
			order[j] = uint32(j)
		}
		slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(dots[b], dots[a]) })
		s.truth = append(s.truth, order[:10]...)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for _, part := range []any{[]uint32{uint32(n), uint32(dim), uint32(asked)}, s.vectors, s.queries, s.truth} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func read(path string) (s set, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	r := io.Reader(bufio.NewReaderSize(f, 1<<20))
	head := make([]uint32, 3)
	if err := binary.Read(r, binary.LittleEndian, head); err != nil {
		return s, err
	}
	s.count, s.dim, s.asked = int(head[0]), int(head[1]), int(head[2])
	s.vectors, s.queries = make([]float32, s.count*s.dim), make([]float32, s.asked*s.dim)
	s.truth = make([]uint32, 10*s.asked)
	for _, part := range []any{s.vectors, s.queries, s.truth} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return s, err
		}
	}
	return s, nil
}

// result is what both sides print, as JSON.
type result struct {
	Build    float64            `json:"build"`     // seconds
	BuildCPU float64            `json:"build_cpu"` // of all threads
	Search   map[string]float64 `json:"search"`    // milliseconds a query, by ef
	Recall   map[string]float64 `json:"recall"`    // of the true ten, by ef
}

func run(path string, threads int, dir []string) error {
	s, err := read(path)
	if err != nil {
		return err
	}
	ctx := context.Background()
	// The peer stores unit vectors as they are: so do we, in the space without
	// norms.
	b, err := hnswlib.NewBuilder(hnswlib.BuildOptions{Space: hnswlib.IP, Dimension: s.dim, Workers: threads}, s.count)
	if err != nil {
		return err
	}
	res := result{Search: map[string]float64{}, Recall: map[string]float64{}}
	start, cpu := time.Now(), processorTime()
	for i := range s.count {
		if err := b.Add(uint64(i)+1, s.vectors[i*s.dim:(i+1)*s.dim]); err != nil {
			return err
		}
	}
	g, err := b.Build(ctx)
	if err != nil {
		return err
	}
	res.Build, res.BuildCPU = time.Since(start).Seconds(), processorTime()-cpu
	for _, ef := range []int{10, 50, 200} {
		found := 0
		best := time.Duration(1 << 62)
		for range 3 {
			found = 0
			start := time.Now()
			for i := range s.asked {
				hits, err := g.Search(ctx, s.queries[i*s.dim:(i+1)*s.dim], 10, ef, nil)
				if err != nil {
					return err
				}
				for _, h := range hits {
					if slices.Contains(s.truth[10*i:10*i+10], uint32(h.Label-1)) {
						found++
					}
				}
			}
			best = min(best, time.Since(start))
		}
		key := strconv.Itoa(ef)
		res.Search[key] = float64(best.Microseconds()) / 1000 / float64(s.asked)
		res.Recall[key] = float64(found) / float64(10*s.asked)
	}
	for _, d := range dir {
		if err := g.Write(ctx, d); err != nil {
			return err
		}
	}
	out, err := json.Marshal(res)
	fmt.Println(string(out))
	return err
}
