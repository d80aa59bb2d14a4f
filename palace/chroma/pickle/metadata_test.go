package pickle

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func read(b []byte) (*IndexMetadata, error) {
	return Read(context.Background(), bytes.NewReader(b), int64(len(b)))
}

const synced = "../../../testdata/palaces/synced/palace/ed5a97e5-ec23-4c4c-8b23-b55d86f8dc35"

// The labels of a file Chroma wrote are those of the elements in the index
// beside it that are not deleted, neither more nor fewer.
func TestIDsOfARealPalaceAreTheLiveElementsOfItsIndex(t *testing.T) {
	t.Parallel()
	m, err := ReadFile(context.Background(), filepath.Join(synced, "index_metadata.pickle"))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.IDs) != 2380 || m.LabelCount != 2380 || m.TotalElementsAdded != 2540 || m.MaxLabel > 2540 ||
		m.Dimensionality != nil || m.MaxSeqID != nil || m.Class != "" || m.Protocol != 3 ||
		!m.Consistent() || m.Missing != nil || m.TrailingBytes != 0 {
		t.Errorf("read %d ids: %+v", len(m.IDs), m)
	}
	data, err := os.ReadFile(filepath.Join(synced, "data_level0.bin"))
	if err != nil {
		t.Fatal(err)
	}
	const size, label = 1676, 1668
	live := make(map[uint64]bool)
	for at := 0; at < 2540*size; at += size {
		if data[at+2]&1 == 0 {
			live[binary.LittleEndian.Uint64(data[at+label:])] = true
		}
	}
	if len(live) != len(m.IDs) {
		t.Errorf("the index has %d live elements, the pickle %d ids", len(live), len(m.IDs))
	}
	for id, l := range m.IDs {
		if !live[l] {
			t.Errorf("%s has label %d, which no live element carries", id, l)
		}
	}
}

// checkPython checks a file of testdata/make.py with n ids and two odd ones.
func checkPython(t *testing.T, path string, n int) {
	t.Helper()
	m, err := ReadFile(context.Background(), path)
	if err != nil {
		t.Error(err)
		return
	}
	var kind string
	var proto int
	fmt.Sscanf(filepath.Base(path), "%1s", &kind)
	fmt.Sscanf(path[len(path)-len("2.pickle"):], "%d", &proto)
	if m.Protocol != proto || len(m.IDs) != n+2 || m.LabelCount != n+2 ||
		m.TotalElementsAdded != int64(n+7) || !m.Consistent() || m.Missing != nil || m.MaxLabel != uint64(n+2) {
		t.Errorf("%s: %+v", path, m)
	}
	for id, label := range map[string]uint64{"drawer_0": 1, "snow 雪": uint64(n + 1), "lone \xed\xa0\x80": uint64(n + 2)} {
		if m.IDs[id] != label {
			t.Errorf("%s: %q has label %d, want %d", path, id, m.IDs[id], label)
		}
	}
	if kind == "d" {
		if m.Class != "" || m.Dimensionality != nil || m.MaxSeqID != nil || m.SeqIDCount != 0 {
			t.Errorf("%s: %+v", path, m)
		}
		return
	}
	if m.Class != PersistentData || m.Dimensionality == nil || *m.Dimensionality != 384 ||
		m.MaxSeqID == nil || *m.MaxSeqID != 1<<40+3 || m.SeqIDCount != n+2 {
		t.Errorf("%s: %+v", path, m)
	}
}

func TestFilesPythonWroteOnceAreRead(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/*.pickle")
	if len(files) < 5 {
		t.Fatalf("found only %v", files)
	}
	for _, f := range files {
		checkPython(t, f, 5)
	}
}

// 2500 ids are three batches of a dict and memo slots beyond one byte.
func TestFilesPythonWritesNowAreRead(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here; the files in testdata stand for it")
	}
	dir := t.TempDir()
	if out, err := exec.Command(python, "testdata/make.py", dir, "2500").CombinedOutput(); err != nil {
		t.Skipf("python3 does not run here: %v\n%s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.pickle"))
	if len(files) != 12 {
		t.Fatalf("make.py wrote %d files", len(files))
	}
	for _, f := range files {
		checkPython(t, f, 2500)
	}
}

func TestBothFormsOfAFileGiveTheSameIDs(t *testing.T) {
	t.Parallel()
	all := rows(3333)
	for name, file := range map[string][]byte{"rust": rust(all, 3333), "python": python(all, 3333)} {
		m, err := read(file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, r := range all {
			if m.IDs[r.id] != uint64(r.label) {
				t.Fatalf("%s: %s has label %d, want %d", name, r.id, m.IDs[r.id], r.label)
			}
		}
		if len(m.IDs) != len(all) || !m.Consistent() {
			t.Errorf("%s: %d ids, %+v", name, len(m.IDs), m.Mismatches)
		}
	}
}

// A dict has no order: the inverse may come first, and the fields in any order.
func TestOrderOfTheFieldsDoesNotMatter(t *testing.T) {
	t.Parallel()
	s := proto(3).op(opEmptyDict, opMark)
	s.text("label_to_id").op(opEmptyDict, opMark).num(2).text("b").num(1).text("a").op(opSetItems)
	s.field("unknown", opEmptyList)
	s.text("id_to_seq_id").op(opEmptyDict).text("a").num(7).op(opSetItem)
	s.text("id_to_label").op(opEmptyDict).text("a").num(1).op(opSetItem).text("b").num(2).op(opSetItem)
	s.text("total_elements_added").num(2)
	m, err := read(s.op(opSetItems, opStop).b)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.IDs) != 2 || m.IDs["a"] != 1 || m.IDs["b"] != 2 || m.SeqIDCount != 1 || !m.Consistent() {
		t.Errorf("%+v", m)
	}
}

func TestDisagreementOfTheMapsIsCounted(t *testing.T) {
	t.Parallel()
	build := func(ids, labels []row) []byte {
		s := head(9).field("id_to_label", opEmptyDict).op(opMark)
		for _, r := range ids {
			s.text(r.id).num(r.label)
		}
		s.op(opSetItems).field("label_to_id", opEmptyDict).op(opMark)
		for _, r := range labels {
			s.num(r.label).text(r.id)
		}
		return s.op(opSetItems).field("id_to_seq_id", opEmptyDict).op(opSetItems, opStop).b
	}
	abc := []row{{"a", 1}, {"b", 2}, {"c", 3}}
	for name, c := range map[string]struct {
		ids, labels                   []row
		mismatches, double, repeated  int
		idCount, labelCount, maxLabel int
	}{
		"inverse":              {abc, abc, 0, 0, 0, 3, 3, 3},
		"label without id":     {abc[:2], abc, 1, 0, 0, 2, 3, 2},
		"id without label":     {abc, abc[:1], 2, 0, 0, 3, 1, 3},
		"other id":             {abc, []row{{"a", 1}, {"b", 2}, {"x", 3}}, 2, 0, 0, 3, 3, 3},
		"swapped":              {abc, []row{{"b", 1}, {"a", 2}, {"c", 3}}, 4, 0, 0, 3, 3, 3},
		"label given twice":    {[]row{{"a", 1}, {"b", 1}}, abc[:1], 1, 1, 0, 2, 1, 1},
		"id written twice":     {[]row{{"a", 5}, {"a", 1}}, abc[:1], 0, 0, 1, 1, 1, 1},
		"label written twice":  {abc[:1], []row{{"x", 1}, {"a", 1}}, 0, 0, 0, 1, 1, 1},
		"negative label":       {abc[:1], []row{{"a", 1}, {"z", -1}}, 1, 0, 0, 1, 2, 1},
		"label beyond all":     {[]row{{"a", 1 << 30}}, []row{{"a", 1 << 30}}, 0, 0, 0, 1, 1, 1 << 30},
		"nothing in the index": {nil, nil, 0, 0, 0, 0, 0, 0},
	} {
		m, err := read(build(c.ids, c.labels))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.Mismatches != c.mismatches || m.DuplicateLabels != c.double || m.RepeatedIDs != c.repeated ||
			len(m.IDs) != c.idCount || m.LabelCount != c.labelCount || m.MaxLabel != uint64(c.maxLabel) {
			t.Errorf("%s: %+v", name, m)
		}
		ok := c.mismatches+c.double+c.repeated == 0 && c.maxLabel <= 9
		if m.Consistent() != ok {
			t.Errorf("%s: Consistent is %v", name, !ok)
		}
	}
}

func TestFieldsChromaCannotDoWithoutAreNamed(t *testing.T) {
	t.Parallel()
	s := proto(2).op(opEmptyDict).text("id_to_label").op(opEmptyDict, opSetItem, opStop)
	m, err := read(append(s.b, "junk"...))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(m.Missing) != "[total_elements_added label_to_id id_to_seq_id]" || m.TrailingBytes != 4 {
		t.Errorf("missing %v, trailing %d", m.Missing, m.TrailingBytes)
	}
	var shape *ShapeError
	for name, b := range map[string][]byte{
		"no ids":        proto(3).op(opEmptyDict, opStop).b,
		"a list":        proto(3).op(opEmptyList, opStop).b,
		"no state":      proto(2).global(persistentModule, "PersistentData").op(opEmptyTuple, opNewObj, opStop).b,
		"ids are None":  proto(3).op(opEmptyDict).field("id_to_label", opNone).op(opSetItem, opStop).b,
		"text labels":   proto(3).op(opEmptyDict).field("id_to_label", opEmptyDict).text("a").text("b").op(opSetItem, opSetItem, opStop).b,
		"a fraction":    append(proto(3).op(opEmptyDict).text("max_seq_id").op(opBinFloat, 1, 2, 3, 4, 5, 6, 7, 8).b, opSetItem, opStop),
		"a huge number": append(proto(3).op(opEmptyDict).text("max_seq_id").op(opLong1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1).b, opSetItem, opStop),
		"below zero":    proto(3).op(opEmptyDict).field("id_to_label", opEmptyDict).text("a").num(-1).op(opSetItem, opSetItem, opStop).b,
	} {
		if m, err := read(b); !errors.As(err, &shape) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// Long integers are two's complement of any length.
func TestLongIntegersKeepTheirSign(t *testing.T) {
	t.Parallel()
	for want, long := range map[int64][]byte{
		0: {}, -1: {0xff}, 255: {0xff, 0}, -256: {0, 0xff}, -1 << 63: {0, 0, 0, 0, 0, 0, 0, 0x80},
		1229822654365841720: {0x38, 0x39, 0x34, 0x32, 0x30, 0x35, 0x11, 0x11},
	} {
		s := head(1).field("id_to_label", opEmptyDict).text("max_seq_id").op(opLong1, byte(len(long))).op(long...)
		m, err := read(s.op(opSetItems, opStop).b)
		if err != nil || m.MaxSeqID == nil || *m.MaxSeqID != want {
			t.Errorf("%x: %+v, %v, want %d", long, m, err, want)
		}
	}
}
