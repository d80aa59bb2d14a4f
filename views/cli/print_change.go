package cli

import (
	"fmt"
	"time"

	"castellan/palace/action"
	"castellan/palace/change"
	"castellan/palace/health"
	"castellan/palace/repair"

	"github.com/dustin/go-humanize"
)

// planLines is a plan in words, one a line, clean.
func (a *app) planLines(p action.Plan) []string {
	lines := []string{clean(p.Title)}
	add := func(label string, list ...string) {
		for _, s := range list {
			lines = append(lines, fmt.Sprintf("  %-8s%s", label, clean(s)))
			label = ""
		}
	}
	if p.Reason != "" {
		add("Because", p.Reason)
	}
	add("Will", p.Steps...)
	add("Changes", p.Touches...)
	add("Leaves", p.Leaves...)
	if p.Backup != "" {
		add("Record", p.Backup)
	}
	for i := range p.Holders {
		add("Held by", a.holderWords(health.HolderDocument(&p.Holders[i])))
	}
	if p.BytesNeeded != nil && *p.BytesNeeded > 0 && p.BytesFree != nil {
		add("Needs", fmt.Sprintf("%s on its disk; %s are free", humanize.IBytes(uint64(*p.BytesNeeded)), humanize.IBytes(uint64(max(*p.BytesFree, 0)))))
	}
	if p.Estimate >= time.Second {
		add("Takes", "about "+p.Estimate.Round(time.Second).String())
	}
	return lines
}

func (a *app) tellDeleted(detail any) {
	d, ok := detail.(*change.Deleted)
	if !ok {
		return
	}
	if d.AppliedFirst > 0 {
		writeLine(a.out, many(d.AppliedFirst, "waiting write was made first.", "waiting writes were made first."))
	}
	for _, c := range d.Collections {
		writeLine(a.out, fmt.Sprintf("%s of %s deleted.", many(c.Rows, "row", "rows"), clean(c.Name)))
	}
	for _, id := range d.NotFound {
		writeLine(a.out, "No row has the id "+clean(id)+".")
	}
	if d.Rows() == 0 {
		writeLine(a.out, "Nothing was deleted.")
		return
	}
	if d.CannotBePutBack > 0 {
		writeLine(a.out, many(d.CannotBePutBack, "of them cannot be put back: only its text and metadata are kept.", "of them cannot be put back: only their text and metadata are kept."))
	}
	if d.Undo != nil {
		writeLine(a.out, "castellan undo puts them back; they are kept in "+clean(*d.Undo))
	}
}

func (a *app) tellPutBack(detail any) {
	if d, ok := detail.(*repair.PutBack); ok {
		writeLine(a.out, "The palace is as it was before the repair; the copy stays in "+clean(d.Backup))
		return
	}
	d, ok := detail.(*change.PutBack)
	if !ok {
		return
	}
	n := 0
	for _, c := range d.Collections {
		n += c.Rows
		writeLine(a.out, fmt.Sprintf("%s of %s put back.", many(c.Rows, "row", "rows"), clean(c.Name)))
	}
	if d.AlreadyThere > 0 {
		writeLine(a.out, many(d.AlreadyThere, "row was there already, as it had been.", "rows were there already, as they had been."))
	}
	if d.CannotBePutBack > 0 {
		writeLine(a.out, many(d.CannotBePutBack, "row", "rows")+" cannot be put back; what is kept of them is in "+clean(d.Undo))
	}
	if n == 0 && d.AlreadyThere == 0 && d.CannotBePutBack == 0 {
		writeLine(a.out, "There was nothing to put back: nothing had been deleted.")
	}
}

// many is "1 row" or "1,500 rows".
func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(int64(n)) + " " + more
}
