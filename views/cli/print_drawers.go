package cli

import (
	"maps"
	"slices"
	"strings"

	"castellan/palace/backend"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"
)

// printDrawers prints one page of drawers for people.
func (a *app) printDrawers(d drawerDocument, filtered bool) {
	for i, r := range d.Rows {
		if i > 0 {
			a.gap()
		}
		a.printDrawer(r)
	}
	if len(d.Rows) > 0 {
		a.gap()
	}
	a.paragraph("", "", drawersTotal(d, filtered))
	if d.Next != nil {
		writeLine(a.out, "More: add --after "+quoteArg(*d.Next))
	}
}

// drawersTotal says how much there is, and why it is not more.
func drawersTotal(d drawerDocument, filtered bool) string {
	name := clean(d.Collection)
	var s string
	switch {
	case d.Total == 0 && filtered:
		s = "Nothing in " + name + " matches."
	case d.Total == 0:
		s = name + " holds no drawers yet."
	case int64(len(d.Rows)) == d.Total:
		s = plural(d.Total, "drawer", "drawers") + " in " + name
	default:
		s = humanize.Comma(int64(len(d.Rows))) + " of " + plural(d.Total, "drawer", "drawers") + " in " + name
	}
	if d.Total > 0 {
		if filtered {
			s += " that match"
		}
		s += "."
	}
	if d.hidden > 0 {
		s += " " + plural(d.hidden, "row", "rows") + " that MemPalace files for itself hidden; --all shows them."
	}
	return s
}

func (a *app) printDrawer(r drawerRow) {
	place := valueWords(r.Wing, "(no wing)") + " / " + valueWords(r.Room, "(no room)")
	head := a.ink.bold(clean(r.ID)) + "  " + place
	if s := valueWords(r.FiledAt, ""); s != "" {
		head += "  filed " + s
	}
	writeLine(a.out, head)
	if s := valueWords(r.SourceFile, ""); s != "" {
		if n := valueWords(r.ChunkIndex, ""); n != "" {
			s += ", piece " + n
		}
		writeLine(a.out, "  "+a.ink.faint(a.cut(s, 2)))
	}
	if r.Metadata == nil {
		if r.Preview == nil {
			writeLine(a.out, "  (no text)")
		} else {
			writeLine(a.out, "  "+a.cut(*r.Preview, 2))
		}
		return
	}
	for _, k := range slices.Sorted(maps.Keys(*r.Metadata)) {
		a.paragraph("  "+clean(k)+": ", "    ", clean(backend.Text((*r.Metadata)[k])))
	}
	if r.Document == nil {
		writeLine(a.out, "  (no text)")
		return
	}
	for line := range strings.Lines(*r.Document) {
		a.paragraph("  | ", "  | ", clean(strings.TrimRight(line, "\r\n")))
	}
}

// cut shortens one line to what the terminal shows behind an indent.
func (a *app) cut(s string, indent int) string {
	if a.width <= 0 {
		return s
	}
	return ansi.Truncate(s, max(a.width-indent, 8), "…")
}

// valueWords renders a metadata value of any type.
func valueWords(v any, absent string) string {
	m, ok := v.(metadataValue)
	if !ok {
		return absent
	}
	s := clean(backend.Text(m.v))
	if s == "" {
		return absent
	}
	return s
}

// quoteArg makes a token safe to paste into a shell.
func quoteArg(s string) string {
	s = clean(s)
	for _, r := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/=+,@", r) {
			return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
	}
	return s
}
