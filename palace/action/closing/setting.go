package closing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// setting is hooks.auto_save in the text of a configuration. The text is cut
// and joined rather than written anew, so that everything else stays as its
// owner wrote it: order, spacing, numbers of any length, doubled keys.
type setting struct {
	doc []byte
	top object
	// hooks and autoSave are nil where the file has no such key; inside is the
	// object at hooks, nil where there is something else (null, that is).
	hooks    *member
	inside   *object
	autoSave *member
}

// object is a JSON object in a text: open is behind its brace, end at the
// closing one.
type object struct {
	open, end int
	members   []member
}

// member is a key with its value, as offsets in the text.
type member struct {
	key              string
	start, from, end int // of the key, of the value, behind the value
	value            string
}

func parseSetting(doc []byte) (*setting, error) {
	s := &setting{doc: doc}
	if !json.Valid(doc) {
		var v any
		return nil, fmt.Errorf("is not valid JSON: %w", json.Unmarshal(doc, &v))
	}
	var err error
	if s.top, err = parseObject(doc, 0); err != nil {
		return nil, errors.New("holds something else than a JSON object")
	}
	if s.hooks = s.top.last("hooks"); s.hooks == nil {
		return s, nil
	}
	inside, err := parseObject(doc, s.hooks.from)
	switch {
	case err == nil:
		s.inside = &inside
		s.autoSave = inside.last("auto_save")
	case s.hooks.value != "null":
		return nil, fmt.Errorf("holds %.20q at hooks, where an object is needed", s.hooks.value)
	}
	return s, nil
}

// parseObject reads the object that begins at an offset of a valid document.
func parseObject(doc []byte, at int) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(doc[at:]))
	open, err := dec.Token()
	if err != nil || open != json.Delim('{') {
		return object{}, errors.New("no object")
	}
	o := object{open: at + int(dec.InputOffset())}
	for dec.More() {
		before := at + int(dec.InputOffset())
		key, err := dec.Token()
		if err != nil {
			return object{}, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return object{}, err
		}
		end := at + int(dec.InputOffset())
		o.members = append(o.members, member{
			key: key.(string), start: before + bytes.IndexByte(doc[before:end], '"'),
			from: end - len(value), end: end, value: string(value),
		})
	}
	if _, err := dec.Token(); err != nil {
		return object{}, err
	}
	o.end = at + int(dec.InputOffset()) - 1
	return o, nil
}

// last is the member that counts when a key stands twice.
func (o *object) last(key string) *member {
	for i, m := range slices.Backward(o.members) {
		if m.key == key {
			return &o.members[i]
		}
	}
	return nil
}

const offMember = `"auto_save": false`

// off is the text with automatic saves switched off.
func (s *setting) off() []byte {
	switch {
	case s.autoSave != nil:
		return s.splice(s.autoSave.from, s.autoSave.end, "false")
	case s.inside != nil:
		return s.add(s.inside, 2, offMember)
	}
	deep, shallow := s.space(2), s.space(1)
	section := "{" + deep + offMember + shallow + "}"
	if s.hooks != nil {
		return s.splice(s.hooks.from, s.hooks.end, section)
	}
	return s.add(&s.top, 1, `"hooks": `+section)
}

// former is what off replaces.
func (s *setting) former(f *configFile) former {
	was := former{Section: s.inside != nil, Made: f.missing}
	if s.autoSave != nil {
		was.AutoSave = &s.autoSave.value
	} else if s.hooks != nil && s.inside == nil {
		was.Hooks = &s.hooks.value
	}
	return was
}

// restored is the text with what was set before. Only called where auto_save is
// set.
func (s *setting) restored(was former) []byte {
	switch {
	case was.AutoSave != nil:
		return s.splice(s.autoSave.from, s.autoSave.end, *was.AutoSave)
	case was.Section || len(s.inside.members) > 1: // somebody has put more into it since
		return s.cut(s.inside, s.autoSave)
	case was.Hooks != nil:
		return s.splice(s.hooks.from, s.hooks.end, *was.Hooks)
	}
	return s.cut(&s.top, s.hooks)
}

// space is the white space before a member at that depth, in the manner of the
// file. MemPalace's own is a line each, indented by two.
func (s *setting) space(depth int) string {
	if len(s.top.members) == 0 {
		return "\n" + strings.Repeat("  ", depth)
	}
	one := string(s.doc[s.top.open:s.top.members[0].start])
	i := strings.LastIndexByte(one, '\n')
	if i < 0 { // all on one line
		return ""
	}
	return one[:i+1] + strings.Repeat(one[i+1:], depth)
}

// add puts a member at the end of an object.
func (s *setting) add(o *object, depth int, text string) []byte {
	if n := len(o.members); n > 0 {
		m := o.members[n-1]
		lead := string(s.doc[o.open:o.members[0].start])
		if n > 1 {
			lead = strings.TrimPrefix(string(s.doc[o.members[n-2].end:m.start]), ",")
		}
		if strings.Contains(lead, ",") { // a space before the comma: not worth copying
			lead = " "
		}
		return s.splice(m.end, m.end, ","+lead+text)
	}
	end := s.space(depth - 1)
	if depth == 1 {
		end = "\n"
	}
	return s.splice(o.open, o.end, s.space(depth)+text+end)
}

// cut takes a member out, with the comma that it brought along.
func (s *setting) cut(o *object, m *member) []byte {
	i := slices.IndexFunc(o.members, func(x member) bool { return x.start == m.start })
	switch {
	case i > 0:
		return s.splice(o.members[i-1].end, m.end, "")
	case len(o.members) > 1:
		return s.splice(m.start, o.members[1].start, "")
	}
	return s.splice(o.open, o.end, "")
}

func (s *setting) splice(from, to int, text string) []byte {
	return slices.Concat(s.doc[:from], []byte(text), s.doc[to:])
}

func isEmptyObject(doc []byte) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(doc, &m) == nil && m != nil && len(m) == 0
}
