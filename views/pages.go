package views

import (
	"time"

	"castellan/palace/backend"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

const (
	// pageSize is how many drawers are read at once: two screens of them.
	pageSize = 100
	// pagesKept bounds what a list holds in memory, with previews of
	// previewBytes.
	pagesKept    = 60
	previewBytes = 240
)

// pages serve the drawers of a collection to a table, page by page, as far as
// they have been read. They are the ui.Provider of the drawers' table.
//
// Pages lie in the order of the engine, the oldest first. A page is reached from
// the end of the nearest one before it whose end is known; where that is, the
// engine's cursor says.
type pages struct {
	th    theme.Theme
	home  string
	total int64 // without the filter; -1: not known
	count int64 // under the filter; -1: not known yet
	// newest shows the newest first.
	newest bool

	kept map[int][]drawer // by page
	use  map[int]int      // when a page was last looked at
	tick int
	// ends are the cursors behind pages; the last page has none.
	ends map[int]string
	at   map[string]int // index of an ID, as far as read
}

// drawer is what a list shows of a drawer.
type drawer struct {
	id, wing, room, source, filed, preview string
	at                                     time.Time
}

func newPages(th theme.Theme, home string) *pages {
	return &pages{th: th, home: home, total: -1, count: -1,
		kept: map[int][]drawer{}, use: map[int]int{}, ends: map[int]string{}, at: map[string]int{}}
}

// known is how many drawers have been read from the start on without a gap.
func (p *pages) known() int {
	n := 0
	for k := 0; ; k++ {
		rows, ok := p.kept[k]
		if !ok {
			return n
		}
		n += len(rows)
		if len(rows) < pageSize {
			return n
		}
	}
}

// Len is the number of drawers under the filter. Before they are counted it is
// what has been read.
func (p *pages) Len() int {
	if p.count >= 0 {
		return int(p.count)
	}
	return p.known()
}

// Total is the number of drawers without the filter.
func (p *pages) Total() int {
	if p.total >= 0 {
		return max(int(p.total), p.Len())
	}
	return p.Len()
}

// index is where the i-th row lies in the engine's order. The newest first is
// possible only when it is known where the end is.
func (p *pages) index(i int) int {
	if p.newest && p.count >= 0 {
		return int(p.count) - 1 - i
	}
	return i
}

func (p *pages) drawer(i int) (drawer, bool) {
	if i < 0 || i >= p.Len() {
		return drawer{}, false
	}
	at := p.index(i)
	page, ok := p.kept[at/pageSize]
	if !ok || at%pageSize >= len(page) {
		return drawer{}, false
	}
	p.tick++
	p.use[at/pageSize] = p.tick
	return page[at%pageSize], true
}

// Row is the i-th row, without an ID if it has not been read.
func (p *pages) Row(i int) ui.Row {
	d, ok := p.drawer(i)
	if !ok {
		return ui.Row{}
	}
	place := d.wing
	if d.room != "" {
		place += "/" + d.room
	}
	return ui.Row{ID: d.id, Cells: []ui.Cell{
		{Text: d.preview},
		{Text: place, Role: theme.Accent},
		{Text: filedDay(d), Role: theme.Faint},
		{Text: tilde(d.source, p.home), Role: theme.Faint},
		{Text: d.id, Role: theme.Faint},
	}}
}

// filedDay is the day of filing, as it was recorded.
func filedDay(d drawer) string {
	if !d.at.IsZero() {
		return d.at.Format(time.DateOnly)
	}
	return d.filed
}

// Find is the row of an ID, -1 if it has not been read.
func (p *pages) Find(id string) int {
	at, ok := p.at[id]
	if !ok {
		return -1
	}
	return p.index(at)
}

// missing are the pages that rows first to end lie on and that have not been
// read.
func (p *pages) missing(first, end int) []int {
	var out []int
	for i := first; i < end; i++ {
		page := p.index(i) / pageSize
		if _, ok := p.kept[page]; !ok && (len(out) == 0 || out[len(out)-1] != page) {
			out = append(out, page)
		}
	}
	return out
}

// query is how to read a page: from the nearest known end before it.
func (p *pages) query(page int, f backend.Filter) backend.Query {
	q := backend.Query{Filter: f, Include: backend.Documents | backend.Metadatas, Limit: pageSize}
	from := page
	for from > 0 {
		if end, ok := p.ends[from-1]; ok {
			q.After = end
			break
		}
		from--
	}
	q.Offset = (page - from) * pageSize
	return q
}

// put keeps a page that was read.
func (p *pages) put(page int, rows []drawer, next string) {
	p.kept[page] = rows
	p.tick++
	p.use[page] = p.tick
	if next != "" {
		p.ends[page] = next
	} else if p.count < 0 {
		p.count = int64(page*pageSize + len(rows)) // that was the last one
	}
	for i, d := range rows {
		p.at[d.id] = page*pageSize + i
	}
	for len(p.kept) > pagesKept {
		p.forget()
	}
}

// forget drops the page that was looked at longest ago. Its end stays known: it
// is a few bytes, and the way to the pages behind it.
func (p *pages) forget() {
	oldest := -1
	for k := range p.kept {
		if oldest < 0 || p.use[k] < p.use[oldest] {
			oldest = k
		}
	}
	for _, d := range p.kept[oldest] {
		delete(p.at, d.id)
	}
	delete(p.kept, oldest)
	delete(p.use, oldest)
}

// toDrawer takes from a record what a list shows of it. The document may be
// megabytes; only its beginning is kept.
func toDrawer(r backend.Record) drawer {
	d := drawer{id: r.ID, wing: backend.Text(r.Metadata["wing"]), room: backend.Text(r.Metadata["room"]),
		source: backend.Text(r.Metadata["source_file"]), filed: backend.Text(r.Metadata["filed_at"])}
	d.at = parseFiled(d.filed)
	if r.Document == nil {
		d.preview = "(no text)"
		return d
	}
	head, _ := text.Bound(*r.Document, previewBytes, text.CutEnd)
	d.preview = text.Clean(head)
	for _, s := range []*string{&d.wing, &d.room, &d.source, &d.filed} {
		*s, _ = text.Bound(*s, 4*previewBytes, text.CutMiddle)
	}
	return d
}

// parseFiled reads the times MemPalace has written over the years: with and
// without a zone, with a blank instead of the T.
func parseFiled(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}
