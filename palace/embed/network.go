package embed

import (
	"encoding/json"
	"errors"
	"fmt"

	"castellan/palace/simd"
)

// shape is config.json: what the weights themselves do not tell.
type shape struct {
	Kind      string  `json:"model_type"`
	Hidden    int     `json:"hidden_size"`
	Heads     int     `json:"num_attention_heads"`
	Layers    int     `json:"num_hidden_layers"`
	Epsilon   float32 `json:"layer_norm_eps"`
	Act       string  `json:"hidden_act"`
	Positions string  `json:"position_embedding_type"`
}

const maxLayers = 64

func readShape(b []byte) (s shape, err error) {
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("is not JSON as expected: %w", err)
	}
	switch {
	case s.Kind == "gemma3_text":
		return s, Supported(Gemma)
	case s.Kind != "bert" || s.Act != "gelu" || s.Positions != "" && s.Positions != "absolute":
		return s, fmt.Errorf("describes a network of kind %q with %q, not BERT with gelu", s.Kind, s.Act)
	case s.Hidden <= 0 || s.Heads <= 0 || s.Hidden%s.Heads != 0 || s.Layers <= 0 || s.Layers > maxLayers || s.Epsilon <= 0:
		return s, fmt.Errorf("has sizes that do not fit: %d wide, %d heads, %d layers, epsilon %v", s.Hidden, s.Heads, s.Layers, s.Epsilon)
	}
	return s, nil
}

// network is BERT's encoder, ready to be computed.
type network struct {
	shape
	// words has a row a token. positions has one a place, with what is added for
	// the first of the two kinds of sentence: there is no other here.
	words, positions []float32
	places           int
	norm             layerNorm
	layers           []layer
	inner            int // width between the two products at the end of a layer
	ones             []float32
}

type layerNorm struct{ weight, bias []float32 }

type linear struct {
	matrix simd.Matrix // input by output
	bias   []float32
}

// layer is one of the encoder. query, key and value of a token are one product
// and lie behind each other.
type layer struct {
	qkv, out, up, down linear
	afterOut, afterAll layerNorm
}

// newNetwork takes the network out of weights; what is missing or has another
// size than it should is an error.
func newNetwork(s shape, w weights) (*network, error) {
	n := &network{shape: s, layers: make([]layer, s.Layers)}
	r := &builder{w: w}
	var dims []int
	n.words, _ = r.floats("embeddings.word_embeddings.weight", 0, s.Hidden)
	n.positions, dims = r.floats("embeddings.position_embeddings.weight", 0, s.Hidden)
	kinds, _ := r.floats("embeddings.token_type_embeddings.weight", 0, s.Hidden)
	n.norm = r.norm("embeddings.LayerNorm", s.Hidden)
	if r.err != nil {
		return nil, r.err
	}
	n.places = dims[0]
	for i := range n.positions {
		n.positions[i] += kinds[i%s.Hidden]
	}
	for i := range n.layers {
		at, l := fmt.Sprintf("encoder.layer.%d.", i), &n.layers[i]
		l.qkv = r.linear(s.Hidden, s.Hidden, at+"attention.self.query", at+"attention.self.key", at+"attention.self.value")
		l.out = r.linear(s.Hidden, s.Hidden, at+"attention.output.dense")
		l.up = r.linear(s.Hidden, 0, at+"intermediate.dense")
		l.down = r.linear(l.up.matrix.Cols(), s.Hidden, at+"output.dense")
		l.afterOut = r.norm(at+"attention.output.LayerNorm", s.Hidden)
		l.afterAll = r.norm(at+"output.LayerNorm", s.Hidden)
		n.inner = max(n.inner, l.up.matrix.Cols())
	}
	more := fmt.Sprintf("encoder.layer.%d.output.dense.bias", s.Layers)
	if _, err := w.find(more); err == nil {
		r.fail(fmt.Errorf("there are more layers than the %d of the configuration", s.Layers))
	}
	n.ones = make([]float32, s.Hidden)
	for i := range n.ones {
		n.ones[i] = 1
	}
	return n, r.err
}

// builder keeps the first error, so that the list of weights reads as one.
type builder struct {
	w   weights
	err error
}

func (r *builder) fail(err error) { r.err = errors.Join(r.err, err) }

func (r *builder) floats(name string, dims ...int) ([]float32, []int) {
	if r.err != nil {
		return nil, nil
	}
	list, have, err := r.w.floats(name, dims...)
	if err != nil {
		r.fail(err)
	}
	return list, have
}

func (r *builder) norm(name string, width int) layerNorm {
	weight, _ := r.floats(name+".weight", width)
	bias, _ := r.floats(name+".bias", width)
	return layerNorm{weight, bias}
}

// linear puts the matrices of the given names beside each other. An output of 0
// takes the width that the bias has.
func (r *builder) linear(in, out int, names ...string) (l linear) {
	var rows []float32
	for i, name := range names {
		bias, _ := r.floats(name+".bias", out)
		if r.err != nil {
			return l
		}
		out = len(bias)
		l.bias = append(l.bias, bias...)
		t, err := r.w.find(name + ".weight")
		if err != nil {
			r.fail(err)
			return l
		}
		dims := []int{in, out}
		if t.turned {
			dims = []int{out, in}
		}
		list, _ := r.floats(name+".weight", dims...)
		if r.err != nil {
			return l
		}
		width := out * len(names)
		if rows == nil {
			rows = make([]float32, in*width)
		}
		for row := range in {
			to := rows[row*width+i*out:][:out]
			if !t.turned {
				copy(to, list[row*out:])
				continue
			}
			for c := range to {
				to[c] = list[c*in+row]
			}
		}
	}
	l.matrix.Pack(rows, in, len(l.bias), len(l.bias))
	return l
}
