package cli

import (
	"fmt"
	"slices"
	"strings"

	"castellan/palace/health"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"
)

// wingsShown bounds the wings that people are shown of one collection; the
// JSON has them all.
const wingsShown = 12

// printReport prints a whole report: what is so first, then what it means.
func (a *app) printReport(r *health.Report) {
	a.printPalace(r)
	if len(r.Collections) > 0 {
		a.gap()
		a.printCollections(r.Collections)
		a.printWings(r.Collections)
	}
	if r.Palace.State != health.Missing {
		a.gap()
		a.printLock(r.Lock)
		a.printOpeners(r.Openers)
	}
	a.printGrowth(r.Growth)
	if not := r.CheckedWith.NotDone; len(not) > 0 {
		a.paragraph("", "  ", a.ink.faint("Not looked at: "+clean(strings.Join(not, "; "))+"."))
	}
}

// gap separates two blocks.
func (a *app) gap() { writeLine(a.out, "") }

// paragraph prints text under an indent, broken into lines on a terminal and
// whole elsewhere.
func (a *app) paragraph(first, rest, s string) {
	if a.width > 0 {
		s = ansi.Wordwrap(s, max(a.width-len(rest), 24), "/")
	}
	for line := range strings.SplitSeq(s, "\n") {
		writeLine(a.out, first+strings.TrimRight(line, " "))
		first = rest
	}
}

// printPalace prints which palace this is and how it is, in one word.
func (a *app) printPalace(r *health.Report) {
	p := r.Palace
	writeLine(a.out, a.ink.bold(clean(p.Path))+"  "+a.stateWord(r))
	var told []string
	if s := sourceWords(p.Source); s != "" {
		told = append(told, s)
	}
	if p.RealPath != nil && *p.RealPath != p.Path {
		told = append(told, "really "+clean(*p.RealPath))
	}
	if len(told) > 0 {
		a.paragraph("  ", "  ", strings.Join(told, "; ")+".")
	}
	for _, alias := range p.Aliases {
		writeLine(a.out, "  also reached as "+clean(alias))
	}
	a.paragraph("  ", "  ", stateWords(p))
	if e := r.Error; e != nil {
		a.paragraph("  "+a.ink.severity(health.Bad, "not read")+"  ", "            ", clean(e.Message))
		if e.Next != "" {
			a.paragraph("  next      ", "            ", clean(e.Next))
		}
	}
}

// stateWord is the palace in one word: its verdict, unless there is nothing a
// verdict could be about.
func (a *app) stateWord(r *health.Report) string {
	switch r.Palace.State {
	case health.OK:
		return a.ink.verdict(r.Verdict)
	case health.Unreadable:
		return a.ink.severity(health.Bad, string(r.Palace.State))
	}
	return string(r.Palace.State)
}

// sourceWords says how a palace was found.
func sourceWords(source string) string {
	switch source {
	case "flag":
		return "Named on the command line"
	case "env":
		return "Named by the environment"
	case "config":
		return "Named by MemPalace's config.json"
	case "default":
		return "Where MemPalace keeps its palace unless told otherwise"
	case "found":
		return "Found beside the others"
	}
	return clean(source)
}

// stateWords tells apart what people otherwise take for one another.
func stateWords(p health.Palace) string {
	disk := ""
	if p.Bytes != nil {
		disk = ", " + size(p.Bytes) + " on disk"
	}
	readOnly := ""
	if p.ReadOnly {
		readOnly = " It can only be read from here."
	}
	switch p.State {
	case health.Missing:
		return "There is no palace here. MemPalace would make one the first time it files something."
	case health.Empty:
		return "An empty folder: no database in it yet, so nothing has been filed." + readOnly
	case health.Uninitialised:
		return "A database without collections (" + backendWords(p.Backend) + disk + "): made, but nothing has been filed." + readOnly
	case health.Unreadable:
		return "Something is here and cannot be read (" + backendWords(p.Backend) + disk + ")." + readOnly
	}
	return "Kept by " + backendWords(p.Backend) + disk + "." + readOnly
}

func backendWords(kind string) string {
	switch kind {
	case "chroma":
		return "Chroma"
	case "sqlite_exact":
		return "sqlite_exact"
	case "chroma_http":
		return "a Chroma server"
	case "qdrant":
		return "Qdrant"
	case "pgvector":
		return "pgvector"
	case "milvus":
		return "Milvus"
	}
	return "an engine that could not be told"
}

// printCollections prints what search can reach of each collection.
func (a *app) printCollections(list []health.Collection) {
	t := newTable(column{title: "COLLECTION", flex: true}, column{title: "DRAWERS", right: true, spare: 1},
		column{title: "SEARCHABLE", right: true}, column{title: "INDEXED", right: true, spare: 4},
		column{title: "QUEUED", right: true, spare: 5}, column{title: "MISSING", right: true, spare: 2},
		column{title: "STALE", right: true, spare: 6}, column{title: "INDEX", spare: 3}, column{title: "STATE"})
	for _, c := range list {
		index := "–"
		if c.Index != nil {
			index = clean(string(c.Index.State))
		}
		t.add(clean(c.Name), count(c.Rows), share(c.Vectors.Searchable, c.Rows), count(c.Vectors.Indexed), count(c.Vectors.Queued),
			count(c.Vectors.Missing), count(c.Vectors.Stale), index, a.ink.verdict(c.Verdict))
	}
	t.write(a.out, a.ink, "", a.width)
	for _, c := range list {
		if facts := collectionFacts(c); facts != "" {
			a.paragraph("", "  ", a.ink.faint(clean(c.Name)+": "+facts))
		}
		for _, s := range openedWords(c) {
			a.paragraph("  ", "  ", s)
		}
	}
}

// openedWords tells what others would make of a collection, where that is worth
// a word: Chroma anything but working, MemPalace something else than what is so.
func openedWords(c health.Collection) []string {
	o := c.OpenedBy
	if o == nil {
		return nil
	}
	var out []string
	name := clean(c.Name)
	switch o.Chroma {
	case health.EffectWrong:
		out = append(out, "Chroma would open "+name+" and answer wrongly.")
	case health.EffectRefuses:
		out = append(out, "Chroma would refuse "+name+".")
	case health.EffectLoses:
		out = append(out, "Chroma would destroy vectors of "+name+" by opening it, or with the next write.")
	case health.EffectCrashes:
		out = append(out, "Chroma may crash over "+name+".")
	}
	if m := o.MemPalace; m != nil && m.Differs != "" {
		out = append(out, "mempalace repair-status says "+clean(m.Says)+" of it ("+clean(m.Why)+"). "+sentence(m.Differs))
	}
	return out
}

// printGrowth prints how the palace has grown since the last thorough look.
func (a *app) printGrowth(g *health.Growth) {
	if g == nil {
		return
	}
	parts := []string{"disk " + bytesChange(g.Bytes)}
	for _, c := range g.Collections {
		if c.Rows.Before != c.Rows.Now {
			parts = append(parts, clean(c.Name)+" "+countChange(c.Rows)+" drawers")
		}
		if c.Capacity.Before != c.Capacity.Now {
			parts = append(parts, clean(c.Name)+" room for "+humanize.Comma(c.Capacity.Now)+" vectors, then for "+humanize.Comma(c.Capacity.Before))
		}
	}
	a.paragraph("", "  ", a.ink.faint("Since the full check of "+clean(g.Since)+": "+strings.Join(parts, ", ")+"."))
}

func countChange(c health.Change) string {
	return fmt.Sprintf("%+d to %s", c.Now-c.Before, humanize.Comma(c.Now))
}

func bytesChange(c health.Change) string {
	switch d := c.Now - c.Before; {
	case d > 0:
		return "+" + humanize.Bytes(uint64(d))
	case d < 0:
		return "-" + humanize.Bytes(uint64(-d))
	}
	return "as it was"
}

// collectionFacts is what stands under the figures: how vectors are compared,
// who made them, what the index could hold.
func collectionFacts(c health.Collection) string {
	var parts []string
	if c.Dimension != nil {
		parts = append(parts, fmt.Sprintf("%d-d", *c.Dimension))
	}
	if c.Space != nil && *c.Space != "" {
		parts = append(parts, clean(*c.Space))
	}
	if c.Embedder != nil && *c.Embedder != "" {
		parts = append(parts, "made by "+clean(*c.Embedder))
	}
	if i := c.Index; i != nil {
		if i.Elements != nil && i.Capacity != nil {
			parts = append(parts, fmt.Sprintf("%s of %s places used", count(i.Elements), count(i.Capacity)))
		}
		if i.Deleted != nil && *i.Deleted > 0 {
			parts = append(parts, plural(*i.Deleted, "tombstone", "tombstones"))
		}
		if i.SyncThreshold != nil {
			parts = append(parts, "written out every "+plural(*i.SyncThreshold, "write", "writes"))
		}
		if i.Bytes != nil {
			parts = append(parts, "index "+size(i.Bytes))
		}
	}
	return strings.Join(parts, ", ")
}

// printWings prints the wings of every collection that has any, largest
// first.
func (a *app) printWings(list []health.Collection) {
	for _, c := range list {
		if len(c.Wings) == 0 {
			continue
		}
		wings := slices.Clone(c.Wings)
		slices.SortStableFunc(wings, func(x, y health.Wing) int { return int(min(max(y.Rows-x.Rows, -1), 1)) })
		a.gap()
		t := newTable(column{title: "WING of " + clean(c.Name), flex: true}, column{title: "DRAWERS", right: true})
		var rest, more int64
		for i, w := range wings {
			if i >= wingsShown && len(wings) > wingsShown+1 {
				rest, more = rest+w.Rows, more+1
				continue
			}
			t.add(wingWords(w.Name), humanize.Comma(w.Rows))
		}
		if more > 0 {
			t.add("and "+plural(more, "more wing", "more wings"), humanize.Comma(rest))
		}
		t.write(a.out, a.ink, "", a.width)
	}
}

// wingWords tells a wing that was never recorded from one with an empty name.
func wingWords(name *string) string {
	switch {
	case name == nil:
		return "(none recorded)"
	case *name == "":
		return "(an empty name)"
	}
	return clean(*name)
}
