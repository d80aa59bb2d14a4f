package pickle

import "fmt"

// metadata makes index metadata of the root: a dict, or the state of the class.
// Fields it does not know are passed over, as Chroma does.
func (d *decoder) metadata(root value) (*IndexMetadata, error) {
	m := &IndexMetadata{Protocol: d.protocol}
	if root.kind == object {
		m.Class = PersistentData
		root = d.objects[root.n].state
	}
	if root.kind != dictable {
		return nil, &ShapeError{Reason: "the file holds " + root.kind.String() + ", not a dict"}
	}
	fields := make(map[string]value)
	d.dicts[root.n].each(func(key, val value) {
		if key.kind == text {
			fields[d.texts.all[key.n]] = val
		}
	})
	if err := d.scalars(m, fields); err != nil {
		return nil, err
	}
	ids, labels, seqs := new(dict), new(dict), new(dict)
	for _, f := range []struct {
		name string
		want shape
		into **dict
	}{
		{"id_to_label", textToNum, &ids},
		{"label_to_id", numToText, &labels},
		{"id_to_seq_id", mixed, &seqs}, // numbers, or bytes of the days of a remote log
	} {
		v, ok := fields[f.name]
		if !ok && f.name == "id_to_label" {
			return nil, &ShapeError{f.name, "is missing"}
		}
		if !ok {
			m.Missing = append(m.Missing, f.name)
			continue
		}
		if v.kind != dictable {
			return nil, &ShapeError{f.name, "is " + v.kind.String() + ", not a dict"}
		}
		*f.into = d.dicts[v.n]
		if s := (*f.into).shape; s != empty && s != f.want && f.want != mixed {
			return nil, &ShapeError{f.name, "holds other pairs than ids and labels"}
		}
	}
	m.SeqIDCount = len(seqs.nums) + len(seqs.pairs)
	return m, d.join(m, ids, labels)
}

func (d *decoder) scalars(m *IndexMetadata, fields map[string]value) error {
	number := func(name string) (*int64, error) {
		switch v, ok := fields[name]; {
		case !ok, v.kind == none:
			return nil, nil
		case v.kind == integer:
			return &v.n, nil
		default:
			return nil, &ShapeError{name, "is " + v.kind.String() + ", not a number"}
		}
	}
	var err error
	if m.Dimensionality, err = number("dimensionality"); err != nil {
		return err
	}
	if m.MaxSeqID, err = number("max_seq_id"); err != nil {
		return err
	}
	total, err := number("total_elements_added")
	if err != nil {
		return err
	}
	if total == nil {
		m.Missing = append(m.Missing, "total_elements_added") // None is refused as well
	} else {
		m.TotalElementsAdded = *total
	}
	return nil
}

// join fills IDs and compares the two maps. Later keys win, as in Python.
func (d *decoder) join(m *IndexMetadata, ids, labels *dict) error {
	m.IDs = make(map[string]uint64, len(ids.texts))
	for i, t := range ids.texts {
		if ids.nums[i] < 0 {
			return &ShapeError{"id_to_label", fmt.Sprintf("gives %q the label %d", clip(d.texts.all[t]), ids.nums[i])}
		}
		m.IDs[d.texts.all[t]] = uint64(ids.nums[i])
	}
	m.RepeatedIDs = len(ids.texts) - len(m.IDs)

	seen := newNumbers(len(m.IDs))
	for _, label := range m.IDs {
		m.MaxLabel = max(m.MaxLabel, label)
		if !seen.add(label) {
			m.DuplicateLabels++
		}
	}

	// Most texts of label_to_id are the very texts of id_to_label; only the
	// others, in files of another order, need to be looked up.
	labelOf := make([]int64, len(d.texts.all))
	if m.RepeatedIDs == 0 {
		for i, t := range ids.texts {
			labelOf[t] = ids.nums[i] + 1
		}
	}
	same := 0
	seen = newNumbers(len(labels.nums))
	for i := len(labels.nums) - 1; i >= 0; i-- {
		label, t := labels.nums[i], labels.texts[i]
		if !seen.add(uint64(label)) {
			continue
		}
		m.LabelCount++
		if label < 0 {
			continue
		}
		if labelOf[t] == label+1 {
			same++
		} else if l, ok := m.IDs[d.texts.all[t]]; ok && l == uint64(label) {
			same++
		}
	}
	m.Mismatches = len(m.IDs) + m.LabelCount - 2*same
	return nil
}
