package embed

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// tensor is a block of little-endian float32 numbers as it lies in a file.
// turned says that a matrix lies output by input.
type tensor struct {
	dims   []int
	data   []byte
	turned bool
}

const maxDim = 1 << 24

func (t *tensor) addDim(v uint64) error {
	if v == 0 || v > maxDim || len(t.dims) == 4 {
		return fmt.Errorf("a dimension of %d, the number %d", v, len(t.dims)+1)
	}
	t.dims = append(t.dims, int(v))
	return nil
}

// weights are the tensors of a file by their name. Exporters put different
// words before the names, such as "bert.".
type weights map[string]tensor

func (w weights) add(name string, t tensor) error {
	size := uint64(4)
	for _, d := range t.dims {
		if size *= uint64(d); size > 1<<32 {
			return fmt.Errorf("%q has the shape %v, too large", name, t.dims)
		}
	}
	if size != uint64(len(t.data)) {
		return fmt.Errorf("%q has the shape %v, which is %d bytes, and there are %d", name, t.dims, size, len(t.data))
	}
	if len(w) >= 10_000 {
		return fmt.Errorf("more than 10,000 tensors")
	}
	if _, twice := w[name]; twice {
		return fmt.Errorf("there are two tensors called %q", name)
	}
	w[name] = t
	return nil
}

// find is the tensor whose name ends in the given one.
func (w weights) find(name string) (tensor, error) {
	if t, ok := w[name]; ok {
		return t, nil
	}
	var found []string
	for have := range w {
		if strings.HasSuffix(have, "."+name) {
			found = append(found, have)
		}
	}
	switch len(found) {
	case 0:
		return tensor{}, fmt.Errorf("%q is missing", name)
	case 1:
		return w[found[0]], nil
	}
	return tensor{}, fmt.Errorf("%q is there %d times", name, len(found))
}

// floats is a tensor of the given shape as numbers; 0 stands for any size.
func (w weights) floats(name string, dims ...int) ([]float32, []int, error) {
	t, err := w.find(name)
	if err != nil {
		return nil, nil, err
	}
	ok := len(t.dims) == len(dims)
	for i := range dims {
		ok = ok && (dims[i] == 0 || dims[i] == t.dims[i])
	}
	if !ok {
		return nil, nil, fmt.Errorf("%q has the shape %v where %v is needed", name, t.dims, dims)
	}
	list := make([]float32, len(t.data)/4)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:]))
		if x := float64(list[i]); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, nil, fmt.Errorf("%q holds %v at %d", name, x, i)
		}
	}
	return list, t.dims, nil
}

// maxHeader bounds the JSON before the tensors of a safetensors file.
const maxHeader = 16 << 20

// readSafetensors finds the weights in a safetensors file: eight bytes with the
// length of a JSON header, the header, and the numbers.
func readSafetensors(b []byte) (weights, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("it is %d bytes long", len(b))
	}
	size := binary.LittleEndian.Uint64(b)
	if size > maxHeader || size > uint64(len(b)-8) {
		return nil, fmt.Errorf("its header says it is %d bytes long, and the file has %d", size, len(b))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+size], &header); err != nil {
		return nil, fmt.Errorf("its header is not JSON: %w", err)
	}
	body := b[8+size:]
	w := weights{}
	for name, raw := range header {
		var e struct {
			Kind    string    `json:"dtype"`
			Dims    []uint64  `json:"shape"`
			Offsets [2]uint64 `json:"data_offsets"`
		}
		if name == "__metadata__" {
			continue
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("%q in its header: %w", name, err)
		}
		if e.Kind != "F32" {
			continue
		}
		from, to := e.Offsets[0], e.Offsets[1]
		if from > to || to > uint64(len(body)) {
			return nil, fmt.Errorf("%q lies at %d to %d of %d bytes", name, from, to, len(body))
		}
		t := tensor{data: body[from:to], turned: len(e.Dims) == 2}
		for _, d := range e.Dims {
			if err := t.addDim(d); err != nil {
				return nil, fmt.Errorf("%q: %w", name, err)
			}
		}
		if err := w.add(name, t); err != nil {
			return nil, err
		}
	}
	return w, nil
}
