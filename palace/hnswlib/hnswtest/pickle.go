package hnswtest

import (
	"bufio"
	"encoding/binary"
	"slices"
)

// pickle writes index_metadata.pickle: protocol 3, a plain dict, no memo, a
// thousand pairs a batch.
func (s *Segment) pickle(w *bufio.Writer) {
	text := func(t string) {
		w.WriteByte('X')
		binary.Write(w, binary.LittleEndian, uint32(len(t)))
		w.WriteString(t)
	}
	num := func(n uint64) {
		w.WriteByte('J')
		binary.Write(w, binary.LittleEndian, uint32(n))
	}
	var live []int
	for i := range s.Vectors {
		if !s.Deleted[i] {
			live = append(live, i)
		}
	}
	dict := func(name string, pair func(i int)) {
		text(name)
		w.WriteByte('}')
		for batch := range slices.Chunk(live, 1000) {
			w.WriteByte('(')
			for _, i := range batch {
				pair(i)
			}
			w.WriteByte('u')
		}
	}
	most := uint64(0)
	if len(s.Labels) > 0 {
		most = slices.Max(s.Labels)
	}
	w.WriteString("\x80\x03}(")
	text("dimensionality")
	w.WriteByte('N')
	text("total_elements_added")
	num(most)
	text("max_seq_id")
	w.WriteByte('N')
	dict("id_to_label", func(i int) { text(s.IDs[i]); num(s.Labels[i]) })
	dict("label_to_id", func(i int) { num(s.Labels[i]); text(s.IDs[i]) })
	live = nil
	dict("id_to_seq_id", nil)
	w.WriteString("u.")
}
