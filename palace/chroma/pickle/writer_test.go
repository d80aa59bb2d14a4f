package pickle

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// script writes pickles opcode by opcode, so that a test can build files no
// pickler would.
type script struct{ b []byte }

func proto(n byte) *script { return &script{[]byte{opProto, n}} }

func (s *script) op(b ...byte) *script { s.b = append(s.b, b...); return s }

func (s *script) text(t string) *script {
	s.b = append(s.b, opBinUnicode)
	s.b = binary.LittleEndian.AppendUint32(s.b, uint32(len(t)))
	s.b = append(s.b, t...)
	return s
}

func (s *script) short(t string) *script {
	s.b = append(s.b, opShortUnicode, byte(len(t)))
	s.b = append(s.b, t...)
	return s
}

func (s *script) num(n int) *script {
	s.b = append(s.b, opBinInt)
	s.b = binary.LittleEndian.AppendUint32(s.b, uint32(n))
	return s
}

func (s *script) global(module, name string) *script {
	s.b = append(s.b, opGlobal)
	s.b = append(s.b, module+"\n"+name+"\n"...)
	return s
}

// field writes a key and an empty dict or None under it.
func (s *script) field(name string, value byte) *script { return s.text(name).op(value) }

// head begins a file like Chroma's: everything up to the first big dict.
func head(total int) *script {
	return proto(3).op(opEmptyDict, opMark).
		field("dimensionality", opNone).text("total_elements_added").num(total).
		field("max_seq_id", opNone)
}

type row struct {
	id    string
	label int
}

// rows makes n ids as MemPalace forms them, in an order of no meaning.
func rows(n int) []row {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	all := make([]row, n)
	for i, label := range rng.Perm(n) {
		all[i] = row{fmt.Sprintf("drawer_wing_myproject_decisions_%024x", rng.Uint64()), label + 1}
	}
	return all
}

// rust is the file the Rust core of Chroma writes for these rows: protocol 3,
// no memo, a thousand pairs a batch, the two maps each in an order of its own.
func rust(all []row, total int) []byte {
	s := head(total)
	s.field("id_to_label", opEmptyDict)
	batches(s, len(all), func(i int) { s.text(all[i].id).num(all[i].label) })
	s.field("label_to_id", opEmptyDict)
	order := rand.New(rand.NewPCG(2, 2)).Perm(len(all))
	batches(s, len(all), func(i int) { r := all[order[i]]; s.num(r.label).text(r.id) })
	s.field("id_to_seq_id", opEmptyDict)
	return s.op(opSetItems, opStop).b
}

// python is the file chromadb 0.x wrote: an instance, protocol 4, ids memoized
// and referred to, a sequence number for each.
func python(all []row, total int) []byte {
	s := proto(4).short(persistentModule).op(opMemoize).short("PersistentData").op(opMemoize)
	s.op(opStackGlobal, opMemoize, opEmptyTuple, opNewObj, opMemoize, opEmptyDict, opMemoize, opMark)
	s.short("total_elements_added").op(opMemoize).num(total)
	s.short("id_to_label").op(opMemoize, opEmptyDict, opMemoize)
	const first = 8 // memo slot of the first id
	batches(s, len(all), func(i int) { s.short(all[i].id).op(opMemoize).num(all[i].label) })
	get := func(i int) {
		s.op(opLongBinGet)
		s.b = binary.LittleEndian.AppendUint32(s.b, uint32(first+i))
	}
	s.short("label_to_id").op(opMemoize, opEmptyDict, opMemoize)
	batches(s, len(all), func(i int) { s.num(all[i].label); get(i) })
	s.short("id_to_seq_id").op(opMemoize, opEmptyDict, opMemoize)
	batches(s, len(all), func(i int) { get(i); s.num(i) })
	return s.op(opSetItems, opBuild, opStop).b
}

func batches(s *script, n int, one func(int)) {
	for from := 0; from < n; from += 1000 {
		s.op(opMark)
		for i := from; i < min(n, from+1000); i++ {
			one(i)
		}
		s.op(opSetItems)
	}
}
