package views

import (
	"encoding/json"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// copyable is something the copy menu offers. The key chooses it.
type copyable struct{ key, what, value string }

// copyShown is how much of a value stands in the menu, in bytes.
const copyShown = 200

func (a *App) nothingToCopy() string {
	if len(a.top().copies()) == 0 && a.said == "" {
		return "there is nothing to copy here"
	}
	return ""
}

// openCopy offers what can be copied. The values stand in it too, so that they
// can be selected where no clipboard works.
func (a *App) openCopy() {
	all := a.top().copies()
	if a.said != "" {
		all = append(all, copyable{"e", "the last message", a.said})
	}
	m := &ui.Menu{Name: "Copy"}
	values := map[string]copyable{}
	for _, c := range all {
		head, _ := text.Bound(c.value, copyShown, text.CutEnd)
		m.Items = append(m.Items, ui.Item{Key: c.key, Label: c.what, Value: head})
		values[c.key] = c
	}
	m.Then = func(it ui.Item) tea.Cmd {
		c := values[it.Key]
		return a.clip.Copy(c.what, c.value)
	}
	a.overlay.Open(m)
}

// copied tells what became of it.
func (a *App) copied(m ui.CopiedMsg) tea.Cmd {
	if m.Err != nil {
		return a.say(theme.Fail, m.String())
	}
	return a.say(theme.Good, m.String())
}

// reportCopies are the report of a palace, for people and for programs.
func (a *App) reportCopies(r *reading) []copyable {
	if r == nil || r.report == nil {
		return nil
	}
	out := []copyable{{"r", "report as text", a.reportText(r)}}
	if b, err := json.MarshalIndent(r.report, "", "  "); err == nil {
		out = append(out, copyable{"j", "report as JSON", string(b)})
	}
	return out
}

// reportText is the report of a palace in words.
func (a *App) reportText(r *reading) string {
	var b strings.Builder
	b.WriteString(fieldsText(a.palaceFields(r)))
	for _, c := range r.report.Collections {
		b.WriteString("\n" + c.Name + ": " + figure(c.Rows) + " drawers, " + figure(c.Vectors.Searchable) +
			" searchable, " + figure(c.Vectors.Missing) + " missing, " + grade(c.Verdict).Word() + "\n")
	}
	for _, f := range merge(r.report, r.full) {
		b.WriteString("\n" + fieldsText(a.findingFields(f.Finding, "")))
	}
	return b.String()
}

// fieldsText is fields as plain text, clean.
func fieldsText(fields []ui.Field) string {
	var b strings.Builder
	for _, f := range fields {
		switch {
		case f.Label == "":
		case strings.TrimSpace(f.Label) == "":
			b.WriteString("  ") // more under the label above
		default:
			b.WriteString(f.Label + ": ")
		}
		b.WriteString(text.Block(words(f.Text)) + "\n")
	}
	return b.String()
}

func (s *palaces) copies() []copyable {
	r := s.current()
	if r == nil {
		return nil
	}
	out := []copyable{{"p", "path", r.path()}}
	if real := r.found.Ref.Real; real != "" && real != r.path() {
		out = append(out, copyable{"l", "path without links", real})
	}
	return append(out, s.app.reportCopies(r)...)
}
