package pickle

// dict keeps its pairs in columns while they are all text to number or all
// number to text (12 bytes a pair, the two big dicts), and as values otherwise.
// Pairs stay in file order; a key that comes again is for the reader of the
// columns to judge, as Python lets the last one win.
type dict struct {
	shape shape
	texts []uint32
	nums  []int64
	pairs []pair
}

type shape uint8

const (
	empty shape = iota
	textToNum
	numToText
	mixed
)

type pair struct{ key, val value }

// maxMixed bounds dicts that are neither of the big two. The root has six keys.
const maxMixed = 1 << 12

// set adds a pair; false means the dict is larger than any of its kind.
func (d *dict) set(key, val value) bool {
	s := mixed
	switch {
	case key.kind == text && val.kind == integer:
		s = textToNum
	case key.kind == integer && val.kind == text:
		s = numToText
	}
	if d.shape == empty {
		d.shape = s
	}
	if d.shape != s && !d.mix() {
		return false
	}
	switch d.shape {
	case textToNum:
		d.texts = append(d.texts, uint32(key.n))
		d.nums = append(d.nums, val.n)
	case numToText:
		d.texts = append(d.texts, uint32(val.n))
		d.nums = append(d.nums, key.n)
	default:
		if len(d.pairs) >= maxMixed {
			return false
		}
		d.pairs = append(d.pairs, pair{key, val})
	}
	return true
}

// mix turns columns into values. The root begins like a text to number dict
// when its first field is total_elements_added.
func (d *dict) mix() bool {
	if d.shape == mixed {
		return true
	}
	if len(d.nums) > maxMixed {
		return false
	}
	for i, n := range d.nums {
		t, v := value{text, int64(d.texts[i])}, value{integer, n}
		if d.shape == numToText {
			t, v = v, t
		}
		d.pairs = append(d.pairs, pair{t, v})
	}
	d.shape, d.texts, d.nums = mixed, nil, nil
	return true
}

// each visits the pairs of a small dict in file order.
func (d *dict) each(visit func(key, val value)) {
	for i, n := range d.nums {
		t, v := value{text, int64(d.texts[i])}, value{integer, n}
		if d.shape == numToText {
			t, v = v, t
		}
		visit(t, v)
	}
	for _, p := range d.pairs {
		visit(p.key, p.val)
	}
}
