package embed

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// The operators of which all-MiniLM-L6-v2 consists as PyTorch exports it. A
// file with others (a quantised one, say) is another computation.
var onnxOperators = []string{
	"Add", "Cast", "Concat", "Constant", "Div", "Erf", "Gather", "MatMul", "Mul", "Pow",
	"ReduceMean", "Reshape", "Shape", "Slice", "Softmax", "Sqrt", "Sub", "Transpose", "Unsqueeze",
}

// onnxNode is an operator with the names of what goes in and comes out.
type onnxNode struct {
	op      string
	in, out []string
}

// readONNX finds the weights in an ONNX file. Biases and norms have their names;
// the matrices are called "onnx::MatMul_123" and are known by the bias that is
// added to their product. They lie row by row, input by output.
func readONNX(b []byte) (weights, error) {
	w := weights{}
	var nodes []onnxNode
	graphs := 0
	err := eachField(b, func(f field) error {
		if f.number != 7 { // the others tell who made it
			return nil
		}
		if graphs++; graphs > 1 {
			return fmt.Errorf("there are two graphs")
		}
		return eachField(f.bytes, func(f field) error {
			switch f.number {
			case 1:
				n, err := readNode(f.bytes)
				nodes = append(nodes, n)
				return err
			case 5:
				return w.readTensor(f.bytes)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	products := map[string]string{} // by output, the matrix
	for _, n := range nodes {
		if !slices.Contains(onnxOperators, n.op) {
			return nil, fmt.Errorf("it uses the operator %q, which all-MiniLM-L6-v2 does not; a quantised file makes other vectors", n.op)
		}
		if n.op == "MatMul" && len(n.in) == 2 && len(n.out) == 1 {
			products[n.out[0]] = n.in[1]
		}
	}
	for _, n := range nodes {
		if n.op != "Add" || len(n.in) != 2 {
			continue
		}
		for i, bias := range n.in {
			name, ok := strings.CutSuffix(bias, ".bias")
			matrix, isProduct := products[n.in[1-i]]
			if t, have := w[matrix]; ok && isProduct && have {
				w[name+".weight"] = t
			}
		}
	}
	return w, nil
}

func readNode(b []byte) (n onnxNode, err error) {
	err = eachField(b, func(f field) error {
		switch f.number {
		case 1:
			n.in = append(n.in, string(f.bytes))
		case 2:
			n.out = append(n.out, string(f.bytes))
		case 4:
			n.op = string(f.bytes)
		}
		return nil
	})
	return n, err
}

// readTensor adds an initialiser. Of the forms that ONNX has for numbers only
// the one that exporters use for weights is read.
func (w weights) readTensor(b []byte) error {
	var (
		t     = tensor{}
		name  string
		kind  uint64
		other int
	)
	err := eachField(b, func(f field) error {
		switch f.number {
		case 1:
			return t.addDims(f)
		case 2:
			kind = f.value
		case 8:
			name = string(f.bytes)
		case 9:
			t.data = f.bytes
		case 4, 5, 6, 7, 10, 11, 13, 14:
			other = f.number
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("a tensor: %w", err)
	}
	if kind != 1 {
		return nil // positions and other whole numbers, of which none is needed
	}
	if other != 0 {
		return fmt.Errorf("the numbers of %q are kept in field %d, outside of where weights are", name, other)
	}
	return w.add(name, t)
}

func (t *tensor) addDims(f field) error {
	if f.bytes == nil {
		return t.addDim(f.value)
	}
	for b := f.bytes; len(b) > 0; {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return fmt.Errorf("dimensions are cut off")
		}
		if err := t.addDim(v); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
