package views

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/dustin/go-humanize"

	"castellan/palace/backend"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// What the pane shows of a document, in bytes. A person reads a screenful; the
// whole of a huge document is for export.
const (
	documentShown = 64 << 10
	valueShown    = 4 << 10
)

// recordMsg is a drawer in full.
type recordMsg struct {
	to     *drawers
	id     string
	record *backend.Record
	err    error
}

// get reads the drawer under the cursor in full. While the cursor runs through
// the list only one is read at a time; the one it stopped at comes last.
func (s *drawers) get() tea.Cmd {
	id := s.table.ID()
	if id == "" || s.getting || id == s.askedID {
		return nil
	}
	s.askedID, s.getting = id, true
	at, core := s.r.place(s.collection), s.app.opts.Core
	return s.app.work.under(s.ctx, func(ctx context.Context) tea.Msg {
		m := recordMsg{to: s, id: id}
		page, err := core.Page(ctx, at, backend.Query{
			Filter: backend.Filter{IDs: []string{id}}, Include: backend.Documents | backend.Metadatas | backend.URIs, Limit: 1,
		})
		if m.err = err; err == nil && len(page.Records) > 0 {
			m.record = &page.Records[0]
		}
		return m
	})
}

func (s *drawers) got(m recordMsg) tea.Cmd {
	s.getting = false
	if errors.Is(m.err, context.Canceled) {
		s.askedID = "" // the list was read anew meanwhile
		return s.get()
	}
	s.record, s.recordID, s.getErr = m.record, m.id, m.err
	s.tell()
	return s.get()
}

// tellDrawer is the pane: where the drawer belongs, its text, all it carries.
func (s *drawers) tellDrawer() []ui.Field {
	id := s.table.ID()
	switch {
	case id == "" && s.err != nil:
		return nil
	case id == "":
		return nil
	case s.recordID != id:
		return s.preview(id)
	case s.getErr != nil:
		return []ui.Field{ui.Para("The drawer could not be read: " + sentence(s.getErr.Error()))}
	case s.record == nil:
		return []ui.Field{ui.Para("This drawer is not there any more; somebody removed it just now.")}
	}
	return drawerFields(*s.record, s.app.opts.Home)
}

// preview is what the list knows of a drawer, until it has been read in full.
func (s *drawers) preview(id string) []ui.Field {
	if s.shown == nil {
		return nil
	}
	i := s.shown.Find(id)
	if i < 0 {
		return nil
	}
	d, ok := s.shown.drawer(i)
	if !ok {
		return nil
	}
	return []ui.Field{{Text: placeLine(d, s.app.opts.Home)}, ui.Blank(), ui.Para(d.preview)}
}

// placeLine says where a drawer belongs and where it came from.
func placeLine(d drawer, home string) ui.Line {
	wing, room := d.wing, d.room
	if wing == "" {
		wing = "(no wing)"
	}
	if room == "" {
		room = "(no room)"
	}
	line := ui.Line{{Text: wing + " / " + room, Role: theme.Title}}
	if d.source != "" {
		line = append(line, ui.Span{Text: "  " + tilde(d.source, home), Role: theme.Faint})
	}
	return line
}

// drawerFields are a drawer in full: place, text, and every metadata value.
func drawerFields(r backend.Record, home string) []ui.Field {
	fields := []ui.Field{{Text: placeLine(toDrawer(r), home)}, ui.Blank()}
	fields = append(fields, documentFields(r.Document)...)
	fields = append(fields, ui.Blank(), ui.Field{Label: "id", Text: ui.Plain(r.ID)})
	if r.URI != nil {
		fields = append(fields, ui.Field{Label: "uri", Text: ui.Plain(*r.URI)})
	}
	for _, k := range r.Metadata.Keys() {
		fields = append(fields, metadataField(k, r.Metadata[k]))
	}
	if len(r.Metadata) == 0 {
		fields = append(fields, ui.Field{Text: ui.In(theme.Faint, "No metadata.")})
	}
	return fields
}

// documentFields are a text of any size.
func documentFields(doc *string) []ui.Field {
	switch {
	case doc == nil:
		return []ui.Field{{Text: ui.In(theme.Faint, "No text is stored for this drawer.")}}
	case *doc == "":
		return []ui.Field{{Text: ui.In(theme.Faint, "The text is empty.")}}
	}
	shown, left := text.Preview(*doc, documentShown)
	fields := []ui.Field{ui.Para(shown)}
	if left > 0 {
		fields = append(fields, ui.Blank(), ui.Field{Text: ui.In(theme.Faint,
			fmt.Sprintf("The first %s are shown, %s more are not; castellan export has all.", humanize.Bytes(documentShown), humanize.Bytes(uint64(left))))})
	}
	return fields
}

// metadataField is one value with its type, where text could be taken for a
// number.
func metadataField(key string, v any) ui.Field {
	s, left := text.Preview(backend.Text(v), valueShown)
	line := ui.Line{{Text: strings.ReplaceAll(s, "\n", " ")}}
	if left > 0 {
		line = append(line, ui.Span{Text: " (" + humanize.Bytes(uint64(left)) + " more)", Role: theme.Faint})
	}
	if t := typeWord(v); t != "" {
		line = append(line, ui.Span{Text: "  " + t, Role: theme.Faint})
	}
	return ui.Field{Label: key, Text: line}
}

// typeWord is the type of a value, "" for text, which most values are.
func typeWord(v any) string {
	switch v := v.(type) {
	case bool:
		return "yes or no"
	case int64:
		return "integer"
	case float64:
		return "number"
	case []bool, []int64, []float64, []string:
		return "list"
	case string:
		if v == "" {
			return "empty text"
		}
	}
	return ""
}

// capital is s with its first letter in upper case.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// source is the file that the drawer under the cursor came from.
func (s *drawers) source() string {
	if s.record == nil || s.recordID != s.table.ID() {
		return ""
	}
	src, _ := s.record.Metadata["source_file"].(string)
	return src
}

func (s *drawers) noSource() string {
	switch {
	case s.none() != "":
		return s.none()
	case s.source() == "":
		return "the drawer does not say which file it came from"
	}
	return ""
}

func (s *drawers) edit() tea.Cmd { return s.app.openEditor(s.source()) }

func (s *drawers) copies() []copyable {
	id := s.table.ID()
	if id == "" {
		return nil
	}
	out := []copyable{{"i", "id", id}}
	if s.recordID == id && s.record != nil {
		if s.record.Document != nil {
			out = append(out, copyable{"t", "text", *s.record.Document})
		}
		if src := s.source(); src != "" {
			out = append(out, copyable{"s", "path of the source", src})
		}
		if b, err := s.record.Metadata.MarshalJSON(); err == nil {
			out = append(out, copyable{"m", "metadata as JSON", string(b)})
		}
	}
	if marked := s.table.Marked(); len(marked) > 0 {
		out = append(out, copyable{"k", "ids of the marked drawers", strings.Join(marked, "\n")})
	}
	return append(out, copyable{"p", "path of the palace", s.r.path()})
}
