package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
)

// scrollKey moves a pager, and tells whether the key is one of those that do.
// Letters are left alone where they are text.
func scrollKey(p *Pager, msg tea.KeyMsg, letters bool) bool {
	k := keyName(msg)
	if !letters && len(k) == 1 || !letters && k == "space" {
		return false
	}
	switch k {
	case "up", "k":
		p.Scroll(-1)
	case "down", "j":
		p.Scroll(1)
	case "pgup", "b":
		p.Page(-1)
	case "pgdown", "space":
		p.Page(1)
	case "ctrl+u":
		p.Scroll(-max(p.h/2, 1))
	case "ctrl+d":
		p.Scroll(max(p.h/2, 1))
	case "home", "g":
		p.Home()
	case "end", "G":
		p.End()
	default:
		return false
	}
	return true
}

// Reader is a dialog that shows a text in full, to read, search and copy.
type Reader struct {
	Name string
	// Copy, if set, is what y does.
	Copy func() tea.Cmd

	pager  *Pager
	search *Input
	th     theme.Theme
	w, h   int
}

// NewReader shows a text of any size and origin.
func NewReader(name, content string) *Reader {
	r := newReader(name)
	r.pager.SetText(content)
	return r
}

// NewFieldReader shows fields: help, a finding with its evidence.
func NewFieldReader(name string, fields []Field) *Reader {
	r := newReader(name)
	r.pager.SetFields(fields)
	return r
}

func newReader(name string) *Reader {
	return &Reader{Name: name, pager: NewPager(theme.Plain()), search: NewInput("/", "search")}
}

// Title is the name.
func (r *Reader) Title() string { return r.Name }

func (r *Reader) typing() bool { return r.search.Focused() }

// Hints prints the keys.
func (r *Reader) Hints() [][2]string {
	if r.typing() {
		return [][2]string{{"enter", "search"}, {"esc", "cancel"}}
	}
	keys := [][2]string{{"j/k", "scroll"}, {"/", "search"}}
	if r.pager.Query() != "" {
		keys = append(keys, [2]string{"n/N", "next"})
	}
	if r.Copy != nil {
		keys = append(keys, [2]string{"y", "copy"})
	}
	return append(keys, [2]string{"esc", "close"})
}

// Key scrolls, searches, copies or closes. esc ends the search first.
func (r *Reader) Key(msg tea.KeyMsg) Action {
	if r.typing() {
		return r.key(msg)
	}
	return eachKey(msg, r.key)
}

func (r *Reader) key(msg tea.KeyMsg) Action {
	if r.typing() {
		switch r.search.Key(msg) {
		case InputSubmit:
			r.search.Blur()
		case InputCancel:
			r.search.Blur()
			r.pager.Search("")
		case InputChange:
			r.pager.Search(r.search.Value())
		}
		return Action{}
	}
	switch keyName(msg) {
	case "esc":
		if r.pager.Query() != "" {
			r.pager.Search("")
			return Action{}
		}
		return Action{Close: true}
	case "q", "enter":
		return Action{Close: true}
	case "/":
		r.search.SetValue("")
		r.search.Focus()
	case "n":
		r.pager.Next(1)
	case "N":
		r.pager.Next(-1)
	case "y":
		if r.Copy != nil {
			return Action{Cmd: r.Copy()}
		}
	default:
		scrollKey(r.pager, msg, true)
	}
	return Action{}
}

// Resize lays the text out.
func (r *Reader) Resize(th theme.Theme, w, h int) {
	r.th, r.w, r.h = th, w, h
	r.pager.SetTheme(th)
	r.pager.SetSize(w, max(h-1, 0)) // a row for the search or the position
}

// Body draws the text and, below it, the search or the position.
func (r *Reader) Body() []string {
	if r.h == 0 {
		return nil
	}
	var rows []string
	if r.h > 1 {
		rows = strings.Split(r.pager.View(), "\n")
	}
	if r.typing() {
		return append(rows, r.search.View(r.th, r.w))
	}
	return append(rows, In(theme.Faint, r.pager.Position()).Fit(r.th, r.w))
}
