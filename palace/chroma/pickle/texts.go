package pickle

import "strings"

// texts holds the texts of the file. Bytes are kept as they are: Python writes
// lone surrogates as UTF-8 too, and an id must compare equal to what SQLite
// holds byte by byte.
type texts struct {
	all   []string
	chunk strings.Builder // the texts are slices of chunks: no allocation each

	// byLabel[n] is 1 + the text that a dict read earlier gave the number n.
	// The Rust core of Chroma writes each id out twice (id_to_label and
	// label_to_id, no memo); guess finds the first copy again, so that one is kept.
	byLabel []uint32
}

const chunkSize = 256 << 10

// keep copies b and returns its number. A builder never moves what it holds
// while its capacity suffices, so earlier slices stay valid.
func (t *texts) keep(b []byte) int64 {
	s := ""
	switch {
	case len(b) > chunkSize/8:
		s = string(b)
	default:
		if t.chunk.Cap()-t.chunk.Len() < len(b) {
			t.chunk = strings.Builder{}
			t.chunk.Grow(chunkSize)
		}
		from := t.chunk.Len()
		t.chunk.Write(b)
		s = t.chunk.String()[from:]
	}
	t.all = append(t.all, s)
	return int64(len(t.all) - 1)
}

// learn prepares guess for a dict that may be the inverse of d.
func (t *texts) learn(d *dict) {
	most := int64(0)
	for _, n := range d.nums {
		// Labels are never reused, but sparse beyond reason only in a damaged file.
		if n <= 8*int64(len(d.nums))+1000 {
			most = max(most, n)
		}
	}
	t.byLabel = make([]uint32, most+1)
	for i, n := range d.nums {
		if n >= 0 && n <= most {
			t.byLabel[n] = d.texts[i] + 1
		}
	}
}

// guess returns the text that a dict gave the number n, if it is b.
func (t *texts) guess(n int64, b []byte) (int64, bool) {
	if uint64(n) >= uint64(len(t.byLabel)) {
		return 0, false
	}
	at := int64(t.byLabel[n]) - 1
	return at, at >= 0 && t.all[at] == string(b)
}
