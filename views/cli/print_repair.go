package cli

import (
	"fmt"

	"castellan/palace/repair"

	"github.com/dustin/go-humanize"
)

func (a *app) tellRepaired(detail any) {
	switch r := detail.(type) {
	case *repair.Result:
		a.tellResult(r)
	case *repair.Rebuilt:
		writeLine(a.out, "The new palace is "+clean(r.Palace)+"; the old one is as it was.")
		for _, c := range r.Collections {
			writeLine(a.out, fmt.Sprintf("%s: %s.", clean(c.Name), many(c.Rows, "row", "rows")))
		}
	}
}

func (a *app) tellResult(r *repair.Result) {
	if r.RolledBack {
		writeLine(a.out, "What was done could not be seen to be right: the palace is as it was before.")
	}
	for i, c := range r.After {
		line := fmt.Sprintf("%s: %s", clean(c.Collection), figure(c.Rows)+" drawers, "+figure(c.Searchable)+" searchable by meaning")
		if i < len(r.Before) && r.Before[i].Collection == c.Collection {
			line += fmt.Sprintf(" (before: %s, %s)", figure(r.Before[i].Rows), figure(r.Before[i].Searchable))
		}
		writeLine(a.out, line+".")
	}
	for _, q := range r.Recall {
		writeLine(a.out, fmt.Sprintf("%s: the new index finds %.1f%% of the true nearest ten.", clean(q.Collection), 100*q.Recall))
	}
	if r.SetAside > 0 {
		writeLine(a.out, many(r.SetAside, "row of the queue could not be used; its content is in the copy.", "rows of the queue could not be used; their content is in the copy."))
	}
	if r.Without > 0 {
		writeLine(a.out, many(r.Without, "drawer has no vector left; its text is there.", "drawers have no vector left; their texts are there."))
	}
	for _, dir := range r.Moved {
		writeLine(a.out, clean(dir)+" is in the copy now.")
	}
	if r.Backup != "" {
		writeLine(a.out, "The copy from before is "+clean(r.Backup))
	}
	if r.Undo != "" && !r.RolledBack {
		writeLine(a.out, "castellan undo takes it back.")
	}
}

func figure(n *int64) string {
	if n == nil {
		return "?"
	}
	return humanize.Comma(*n)
}

func (a *app) tellBackups(list []repair.Backup) {
	if len(list) == 0 {
		a.say("There are no copies of Castellan's beside this palace; castellan repair --backup-only takes one.")
		return
	}
	for _, b := range list {
		state := "not verified"
		switch {
		case b.Verified == nil:
			state = "verified when it was taken"
		case *b.Verified:
			state = "verified now"
		}
		age := "?"
		if !b.TakenAt.IsZero() {
			age = humanize.RelTime(b.TakenAt, a.now(), "ago", "from now")
		}
		writeLine(a.out, clean(b.Path))
		writeLine(a.out, fmt.Sprintf("  %s, %s, %s: %s", humanize.IBytes(uint64(b.Bytes)), age, state, clean(b.Reason)))
	}
}
