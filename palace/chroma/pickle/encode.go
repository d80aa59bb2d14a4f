package pickle

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"
)

// Encode writes the index metadata of an index as the Rust core of Chroma does:
// protocol 3, a plain dict, no memo, a thousand pairs a batch, no byte behind
// the end, which Chroma would refuse. ids are those of elements that are not
// deleted; total is the highest label ever given, deleted elements' included.
// The same ids give the same bytes. The error is a *ShapeError, for ids and
// labels no index can have, or what w returned.
func Encode(w io.Writer, ids map[string]uint64, total uint64) error {
	rows, err := sorted(ids, total)
	if err != nil {
		return err
	}
	e := encoder{bufio.NewWriterSize(w, 1<<16)}
	e.op(opProto, 3, opEmptyDict, opMark)
	e.text("dimensionality")
	e.op(opNone) // in every file of Chroma's
	e.text("total_elements_added")
	e.num(total)
	e.text("max_seq_id")
	e.op(opNone)
	e.text("id_to_label")
	e.dict(len(rows), func(i int) { e.text(rows[i].id); e.num(rows[i].label) })
	e.text("label_to_id")
	e.dict(len(rows), func(i int) { e.num(rows[i].label); e.text(rows[i].id) })
	e.text("id_to_seq_id")
	e.op(opEmptyDict)
	e.op(opSetItems, opStop)
	return e.w.Flush() // the first error of any write
}

type labelled struct {
	id    string
	label uint64
}

// sorted puts the ids in the order of their labels, which it checks.
func sorted(ids map[string]uint64, total uint64) ([]labelled, error) {
	if total > math.MaxInt32 {
		return nil, &ShapeError{"total_elements_added", fmt.Sprintf("is %d, more than the format holds", total)}
	}
	rows := make([]labelled, 0, len(ids))
	for id, label := range ids {
		if label == 0 || label > total {
			return nil, &ShapeError{"id_to_label", fmt.Sprintf("gives %q the label %d of %d", clip(id), label, total)}
		}
		if !utf8.ValidString(id) || len(id) > math.MaxInt32 {
			return nil, &ShapeError{"id_to_label", fmt.Sprintf("has %q, which is no id Chroma can read", clip(id))}
		}
		rows = append(rows, labelled{id, label})
	}
	slices.SortFunc(rows, func(a, b labelled) int { return cmp.Compare(a.label, b.label) })
	for i := 1; i < len(rows); i++ {
		if rows[i].label == rows[i-1].label {
			return nil, &ShapeError{"id_to_label", fmt.Sprintf("gives the label %d to %q and %q", rows[i].label, clip(rows[i-1].id), clip(rows[i].id))}
		}
	}
	return rows, nil
}

type encoder struct{ w *bufio.Writer }

func (e encoder) op(b ...byte) { e.w.Write(b) }

func (e encoder) text(s string) {
	var b [5]byte
	b[0] = opBinUnicode
	binary.LittleEndian.PutUint32(b[1:], uint32(len(s)))
	e.w.Write(b[:])
	e.w.WriteString(s)
}

func (e encoder) num(n uint64) {
	var b [5]byte
	b[0] = opBinInt
	binary.LittleEndian.PutUint32(b[1:], uint32(n))
	e.w.Write(b[:])
}

func (e encoder) dict(n int, entry func(i int)) {
	const batch = 1000
	e.op(opEmptyDict)
	for from := 0; from < n; from += batch {
		e.op(opMark)
		for i := from; i < min(n, from+batch); i++ {
			entry(i)
		}
		e.op(opSetItems)
	}
}
