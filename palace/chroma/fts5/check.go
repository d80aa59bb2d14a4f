package fts5

import (
	"bytes"
	"slices"
)

// Check compares one index with its texts. Hand in every text and its Size, and
// the segments from the oldest to the newest, each leaf by leaf; then the Totals,
// and ask Done. The two sides may be handed in at the same time.
type Check struct {
	texts    []text // by rowid
	textFold *folder
	count    int64 // texts handed in
	tokens   uint64

	fold *folder
	rows []row // by rowid
	far  map[int64]*row

	// Of a second reading: what was said of a term in a row that is unclear.
	seen  map[uint64]struct{}
	waste row

	seg    segment
	number uint16
	terms  [][]byte // of the segment, by leaf: first and last term
	pages  []int64  // the leaves they are of
}

// text is one text.
type text struct {
	sum    uint64 // of its trigrams by their positions
	tokens uint32
	stored bool
}

// row is what the index has of one text. One that was filed again has entries in
// several segments. Those of the newest are the true ones then, as far as every
// older one was deleted: the sums of their terms cancel out. Where they do not,
// since a merge has left deletions of what is gone already, the row is unclear.
type row struct {
	got     uint64 // sum of the positions in the newest segment that has any
	present uint64 // sum of terms, the deleted ones taken off again
	top     uint64 // sum of terms of that newest segment
	seg     uint16
	mixed   bool // more than one segment has a say
	unclear bool
}

// meet takes an entry of a term.
func (r *row) meet(segment uint16, hash uint64, any, deleted bool) {
	if deleted {
		r.present -= hash
	}
	if r.seg != segment {
		r.mixed = r.mixed || r.seg != 0
		if any {
			r.seg, r.got, r.top = segment, 0, 0
		}
	}
	if any {
		r.present += hash
		r.top += hash
	}
}

// agrees holds it against its text.
func (r *row) agrees(t text) bool {
	if r.unclear {
		return r.got == t.sum // 0 where there is none
	}
	if !t.stored || t.tokens == 0 {
		return r.seg == 0 || r.mixed && r.present == 0
	}
	return r.got == t.sum && (!r.mixed || r.present == r.top)
}

// mostSeen bounds the memory of a second reading, to some 100 MB.
const mostSeen = 2 << 20

// Again prepares a second reading, if the first left rows unclear: the segments
// must be handed in once more, from the newest to the oldest. Of what is said of
// a term in a row the first word counts then.
func (c *Check) Again() bool {
	again := false
	look := func(r *row, t text) {
		if r.mixed && !r.agrees(t) {
			r.unclear, r.got, again = true, 0, true
		}
	}
	for i := range c.rows {
		look(&c.rows[i], c.texts[i])
	}
	for _, r := range c.far {
		look(r, text{})
	}
	if again {
		c.seen = map[uint64]struct{}{}
	}
	return again
}

// effective is the row to which an entry adds: a wasted one where the row is
// clear already or a newer segment has had its say; nil where memory ends.
func (c *Check) effective(r *row, id int64, hash uint64) *row {
	if !r.unclear {
		return &c.waste
	}
	key := at(hash, uint32(id)) + uint64(id)>>32
	if _, had := c.seen[key]; had {
		return &c.waste
	}
	if len(c.seen) >= mostSeen {
		return nil
	}
	c.seen[key] = struct{}{}
	return r
}

// NewCheck makes a check of texts with row numbers up to highest; count is how
// many there are about.
func NewCheck(highest, count int64) (*Check, error) {
	if highest < 0 || highest > 8*count+1<<16 {
		return nil, doubt("its row numbers lie far apart")
	}
	return &Check{
		texts: make([]text, highest+1), textFold: newFolder(),
		fold: newFolder(), rows: make([]row, highest+1), far: map[int64]*row{},
	}, nil
}

// row is nil where there is no room for it.
func (c *Check) row(id int64) *row {
	if id >= 0 && id < int64(len(c.rows)) {
		return &c.rows[id]
	}
	r := c.far[id]
	if r == nil && len(c.far) < mostFar {
		r = &row{}
		c.far[id] = r
	}
	return r
}

// mostFar bounds the rows beyond the last text: those of texts deleted since.
const mostFar = 1 << 18

// Text takes one text.
func (c *Check) Text(id int64, content []byte) error {
	if id < 0 || id >= int64(len(c.texts)) || c.texts[id].stored {
		return doubt("a row number comes twice, or none that there can be")
	}
	sum, tokens, ok := c.textFold.sum(content)
	if !ok {
		return doubt("a text holds a NUL or is no UTF-8")
	}
	c.texts[id] = text{sum, tokens, true}
	c.count++
	c.tokens += uint64(tokens)
	return nil
}

// Size takes the length of one text as the index has it, after all texts.
func (c *Check) Size(id int64, size []byte) error {
	v, n := varint(size)
	if id < 0 || id >= int64(len(c.texts)) || n == 0 || n != len(size) || !c.texts[id].stored || v != uint64(c.texts[id].tokens) {
		return doubt("the length of a text differs")
	}
	return nil
}

// Totals takes block 1, after all texts.
func (c *Check) Totals(block []byte) error {
	r := reader{b: block}
	rows, tokens := r.varint(), r.varint()
	if r.bad || len(r.b) > 0 || rows != uint64(c.count) || tokens != c.tokens {
		return doubt("the totals differ")
	}
	return nil
}

// Begin starts a segment.
func (c *Check) Begin(s Segment) {
	c.number++
	c.seg = segment{c: c, next: s.First, last: s.Last, number: c.number}
	c.terms, c.pages = c.terms[:0], c.pages[:0]
}

// Leaf takes the segment's next leaf.
func (c *Check) Leaf(block int64, b []byte) error {
	page := block & (1<<pageBits - 1)
	if page != c.seg.next {
		return doubt("a page is missing")
	}
	c.seg.next++
	return c.seg.leaf(page, b)
}

// End ends a segment.
func (c *Check) End() error {
	if s := &c.seg; s.next != s.last+1 || s.left > 0 || s.begun {
		return doubt("a segment ends early")
	}
	return nil
}

// Directory takes the entry by which a search for a term finds the leaf it
// begins on; entries of one segment come in the order of their pages. Done with
// the segment, ask DirectoryEnd.
type Directory struct {
	c    *Check
	seg  Segment
	next int
}

// Directory begins the comparison of the last segment's directory.
func (c *Check) Directory(s Segment) *Directory { return &Directory{c: c, seg: s} }

// Entry takes one entry; pgno is as it is stored, twice the page and a flag.
func (d *Directory) Entry(term []byte, pgno int64) error {
	page := pgno >> 1
	if page < d.seg.First {
		return nil // of a page that was merged away
	}
	for d.next < len(d.c.pages) && d.c.pages[d.next] < page {
		if d.c.pages[d.next] != d.seg.First {
			return doubt("a page is not in the directory")
		}
		d.next++
	}
	if d.next == len(d.c.pages) || d.c.pages[d.next] != page {
		return doubt("the directory names a page without a term")
	}
	if bytes.Compare(term, d.c.terms[2*d.next]) > 0 || d.next > 0 && bytes.Compare(term, d.c.terms[2*d.next-1]) <= 0 {
		return doubt("the directory sends a term to the wrong page")
	}
	d.next++
	return nil
}

// End ends the directory.
func (d *Directory) End() error {
	if rest := d.c.pages[d.next:]; len(rest) > 1 || len(rest) == 1 && rest[0] != d.seg.First {
		return doubt("a page is not in the directory")
	}
	return nil
}

// Done is nil when index and texts agree.
func (c *Check) Done() error {
	differ := 0
	for i := range c.rows {
		if !c.rows[i].agrees(c.texts[i]) {
			differ++
		}
	}
	for _, r := range c.far {
		if !r.agrees(text{}) {
			differ++
		}
	}
	if differ > 0 {
		return doubt("entries of the index differ from the texts")
	}
	return nil
}

func (c *Check) note(page int64, first, last []byte) {
	c.terms = append(c.terms, slices.Clone(first), slices.Clone(last))
	c.pages = append(c.pages, page)
}
