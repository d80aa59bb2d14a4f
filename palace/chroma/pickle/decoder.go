package pickle

// Bounds that no index metadata comes near. Picklers flush a dict every 1000
// pairs; the file has one object and four dicts.
const (
	maxStack      = 1 << 20
	maxMarks      = 1000
	maxContainers = 1 << 12
	maxText       = 16 << 20
	maxName       = 256
	maxTuple      = 8 // longer ones are read over
)

// decoder is the stack machine of the format over flat values. Each opcode
// costs the bytes it is made of and the stack items it removes, which were
// pushed by earlier bytes: the work is linear.
type decoder struct {
	w       window
	stack   []value
	marks   []int // stack heights
	memo    []value
	filled  int // memo slots in use, what MEMOIZE counts
	made    int // texts, containers, classes and objects read so far
	texts   texts
	dicts   []*dict
	tuples  [][]value
	objects []instance

	protocol int
	at       int64 // offset of the opcode at work
	op       byte
}

func (d *decoder) bad(reason string) error {
	return &FormatError{Offset: d.at, Opcode: d.op, Reason: reason}
}

func (d *decoder) push(v value) error {
	if len(d.stack) >= maxStack {
		return d.bad("piles up more values than any index metadata")
	}
	d.stack = append(d.stack, v)
	return nil
}

// add pushes something a pickler would memoize.
func (d *decoder) add(v value) error {
	d.made++
	return d.push(v)
}

// fence is the height below which only MARK-aware opcodes may reach.
func (d *decoder) fence() int {
	if n := len(d.marks); n > 0 {
		return d.marks[n-1]
	}
	return 0
}

func (d *decoder) top() (value, error) {
	if len(d.stack) <= d.fence() {
		return value{}, d.bad("needs a value where there is none")
	}
	return d.stack[len(d.stack)-1], nil
}

func (d *decoder) pop() (value, error) {
	v, err := d.top()
	if err == nil {
		d.stack = d.stack[:len(d.stack)-1]
	}
	return v, err
}

// popMark returns what lies above the last mark; the slice is valid until the
// next push.
func (d *decoder) popMark() ([]value, error) {
	n := len(d.marks)
	if n == 0 {
		return nil, d.bad("needs a mark where there is none")
	}
	from := d.marks[n-1]
	items := d.stack[from:]
	d.stack, d.marks = d.stack[:from], d.marks[:n-1]
	return items, nil
}

func (d *decoder) newDict() error {
	if len(d.dicts) >= maxContainers {
		return d.bad("holds more dicts than any index metadata")
	}
	if n := len(d.dicts); n > 0 && d.dicts[n-1].shape == textToNum {
		d.texts.learn(d.dicts[n-1])
	}
	d.dicts = append(d.dicts, new(dict))
	return d.add(value{dictable, int64(len(d.dicts) - 1)})
}

func (d *decoder) newTuple(items []value) error {
	if len(items) > maxTuple {
		return d.add(value{kind: opaque})
	}
	if len(d.tuples) >= maxContainers {
		return d.bad("holds more tuples than any index metadata")
	}
	d.tuples = append(d.tuples, append([]value(nil), items...))
	return d.add(value{tuple, int64(len(d.tuples) - 1)})
}

// setItems puts key, value, key, value into the dict on top of the stack.
func (d *decoder) setItems(items []value) error {
	target, err := d.top()
	if err != nil {
		return err
	}
	if target.kind != dictable || len(items)%2 != 0 {
		return d.bad("sets the items of something that is not a dict")
	}
	into := d.dicts[target.n]
	for i := 0; i < len(items); i += 2 {
		if !into.set(items[i], items[i+1]) {
			return d.bad("fills a dict of mixed kinds beyond what index metadata holds")
		}
	}
	return nil
}

// swallow lets a list or set take items without keeping them.
func (d *decoder) swallow() error {
	target, err := d.top()
	if err == nil && target.kind != opaque {
		err = d.bad("appends to something that is not a list")
	}
	return err
}

// put fills a memo slot. Picklers number slots by the things they have written,
// so a slot beyond that number is an attempt to make the memo huge.
func (d *decoder) put(slot uint64) error {
	v, err := d.top()
	if err != nil {
		return err
	}
	if slot > uint64(d.made) {
		return d.bad("memo slot beyond the values read so far")
	}
	for uint64(len(d.memo)) <= slot {
		d.memo = append(d.memo, value{})
	}
	if d.memo[slot].kind == unset {
		d.filled++
	}
	d.memo[slot] = v
	return nil
}

func (d *decoder) get(slot uint64) error {
	if slot >= uint64(len(d.memo)) || d.memo[slot].kind == unset {
		return d.bad("refers to a memo slot nobody filled")
	}
	return d.push(d.memo[slot])
}

// text reads a text of n bytes.
func (d *decoder) text(n uint64) error {
	if err := d.w.has(n); err != nil {
		return err
	}
	if n > maxText {
		return d.bad("text longer than any id")
	}
	var b []byte
	var err error
	if n <= uint64(len(d.w.buf)) {
		b, err = d.w.take(int(n))
	} else {
		b, err = d.w.long(int(n))
	}
	if err != nil {
		return err
	}
	if h := len(d.stack); h > d.fence() && d.stack[h-1].kind == integer {
		if at, ok := d.texts.guess(d.stack[h-1].n, b); ok {
			return d.add(value{text, at})
		}
	}
	return d.add(value{text, d.texts.keep(b)})
}

// long reads a two's complement little-endian integer of n bytes.
func (d *decoder) long(n uint64) error {
	if n > 8 {
		if err := d.w.skip(n); err != nil {
			return err
		}
		return d.push(value{kind: big})
	}
	v, err := d.w.uint(int(n))
	if err != nil {
		return err
	}
	shift := 64 - 8*n
	return d.push(value{integer, int64(v<<shift) >> shift})
}
