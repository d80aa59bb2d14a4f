package views

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/action"
	"castellan/palace/health"
	"castellan/palace/repair"
	"castellan/theme"
	"castellan/ui"
)

// repairing is the job of mending a palace.
func (a *App) repairing(r *reading, how Mending) job {
	found := r.found
	j := job{title: "repair", verb: "Repair", about: r,
		make:   func(ctx context.Context) (action.Action, error) { return a.opts.Core.Repairing(ctx, found, how) },
		offers: []offer{a.undoOffer(r)}}
	if how.BackupOnly {
		j.title, j.verb, j.offers = "copy", "Copy", nil
	}
	return j
}

// restoring is the job of making a palace what a copy of it says.
func (a *App) restoring(r *reading, backup string) job {
	found := r.found
	return job{title: "restore", verb: "Restore", about: r,
		make:   func(ctx context.Context) (action.Action, error) { return a.opts.Core.Restoring(ctx, found, backup) },
		offers: []offer{a.undoOffer(r)}}
}

// repairCommand mends the palace that of gives as its findings call for. It may
// be nil.
func (a *App) repairCommand(of func() *reading) ui.Command {
	return ui.Command{ID: "palace.repair", Title: "Repair what the findings call for: the plan comes first", Short: "repair", Keys: []string{"R"}, Group: groupActs, Dangerous: true,
		Disabled: func() string { return a.noRepair(of()) },
		Run:      func() tea.Cmd { return a.openGuide(a.repairing(of(), Mending{})) }}
}

// noRepair says why a palace cannot be mended, or why it need not be.
func (a *App) noRepair(r *reading) string {
	if why := a.noChange(r); why != "" {
		return why
	}
	do, offer := repair.Called(r.findings())
	switch {
	case cutShort(r.findings()) || len(do) > 0:
		return ""
	case len(offer) > 0:
		return "there is nothing to mend; what can be tidied (" + joinModes(offer) + ") is begun from its finding (f)"
	case r.full == nil:
		return "a quick look finds nothing to mend; the full check (f, then d) looks at everything"
	}
	return "there is nothing to mend"
}

// findings are those of the quick look and those that only the full check has.
func (r *reading) findings() []health.Finding {
	if r.report == nil {
		return nil
	}
	var out []health.Finding
	for _, f := range merge(r.report, r.full) {
		out = append(out, f.Finding)
	}
	return out
}

// cutShort tells whether a repair of Castellan waits to be finished.
func cutShort(list []health.Finding) bool { return slices.ContainsFunc(list, unfinishedRepair) }

// unfinishedRepair tells the finding of a repair that was cut short from others
// of its code: a rebuild of MemPalace's is not Castellan's to finish.
func unfinishedRepair(f health.Finding) bool {
	return f.Code == health.RebuildUnfinished && f.Remedy != nil && strings.HasPrefix(f.Remedy.Action, "castellan repair")
}

// cure is how a finding is mended, and why it is not; "" if it is.
func (a *App) cure(r *reading, f health.Finding) (Mending, string) {
	if why := a.noChange(r); why != "" {
		return Mending{}, why
	}
	switch {
	case unfinishedRepair(f):
		return Mending{}, ""
	case f.Remedy == nil:
		return Mending{}, "nothing needs doing about it"
	case slices.Contains(repair.Modes(), repair.Mode(f.Remedy.Mode)):
		return Mending{Mode: repair.Mode(f.Remedy.Mode)}, ""
	}
	return Mending{}, "no repair helps here; what does is beside it"
}

// modeWords say what a mode does, behind "R".
func modeWords(m repair.Mode) string {
	switch m {
	case "":
		return "goes on from where it was cut short"
	case repair.MaxSeqID:
		return "puts the positions right that no write ever had"
	case repair.SeqIDBlob:
		return "writes the numbers as numbers again"
	case repair.IndexMetadata:
		return "gives the vectors of the index their names again"
	case repair.Index:
		return "builds the vector index anew, from the vectors that are stored"
	case repair.FTS:
		return "builds the full-text index anew, from the documents"
	case repair.Orphans:
		return "moves what belongs to nothing into a copy"
	case repair.Vacuum:
		return "gives the unused pages back to the disk"
	case repair.FromSQLite:
		return "makes a new palace beside this one, from what can be read of it"
	case repair.Reembed:
		return "makes the missing vectors from the texts, where there is a model"
	}
	return "does --mode " + string(m)
}

func joinModes(list []repair.Mode) string {
	words := make([]string, len(list))
	for i, m := range list {
		words[i] = string(m)
	}
	return strings.Join(words, ", ")
}

// cureFields name the key that mends a finding, or say why it is not there.
func (a *App) cureFields(r *reading, f health.Finding) []ui.Field {
	how, why := a.cure(r, f)
	switch {
	case why == "" && unfinishedRepair(f):
		return []ui.Field{{Label: "repair", Text: ui.Line{{Text: "R", Role: theme.Key}, {Text: " goes on from where it was cut short; the undo of the palace (u) takes it back."}}}}
	case why == "":
		return []ui.Field{{Label: "repair", Text: ui.Line{{Text: "R", Role: theme.Key}, {Text: " " + modeWords(how.Mode) + ". The plan comes first, and a copy before anything is changed."}}}}
	case f.Remedy != nil && slices.Contains(repair.Modes(), repair.Mode(f.Remedy.Mode)):
		return []ui.Field{{Label: "repair", Text: ui.In(theme.Faint, "castellan repair --mode "+f.Remedy.Mode+" "+modeWords(repair.Mode(f.Remedy.Mode))+". Here it is off: "+why+".")}}
	case f.Remedy != nil && a.noBackups(r) == "" && strings.Contains(f.Remedy.Action+f.Remedy.Reason, "put a backup back"):
		return []ui.Field{{Label: "copies", Text: ui.Line{{Text: "b", Role: theme.Key}, {Text: " lists those that Castellan took, and restores one."}}}}
	}
	return nil
}

// repairFields tell on the screens of a palace that it can be mended, or that a
// repair waits to be finished.
func (a *App) repairFields(r *reading) []ui.Field {
	if a.noRepair(r) != "" {
		return nil
	}
	key := ui.Span{Text: "R", Role: theme.Key}
	if cutShort(r.findings()) {
		return []ui.Field{{Text: ui.Line{badge(a.th, theme.Warn), {Text: " "}, key, {Text: " finishes the repair that was cut short."}}}}
	}
	do, _ := repair.Called(r.findings())
	return []ui.Field{{Text: ui.Line{key, {Text: " repairs it: " + joinModes(do) + ". The plan comes first."}}}}
}

// repairedFields tell what a repair did.
func repairedFields(r *repair.Result) []ui.Field {
	var f []ui.Field
	if r.RolledBack {
		f = append(f, ui.Para("What was done could not be seen to be right: the palace is as it was before."))
	}
	for i, c := range r.After {
		var b repair.State
		if i < len(r.Before) && r.Before[i].Collection == c.Collection {
			b = r.Before[i]
		}
		f = append(f, ui.Blank(), ui.Field{Text: ui.In(theme.Header, c.Collection)})
		rows := [][3]string{{"drawers", figure(b.Rows), figure(c.Rows)}, {"searchable", figure(b.Searchable), figure(c.Searchable)}}
		for _, q := range r.Recall {
			if q.Collection == c.Collection {
				rows = append(rows, [3]string{"recall", "-", fmt.Sprintf("%.1f%%", 100*q.Recall)})
			}
		}
		f = append(f, comparedFields(rows)...)
	}
	for _, q := range r.Recall {
		f = append(f, ui.Para(fmt.Sprintf("Recall is what the new index of %s finds of the true nearest ten, asked %s.", q.Collection, plural(int64(q.Queries), "time", "times"))))
	}
	if r.SetAside > 0 {
		f = append(f, ui.Para(plural(int64(r.SetAside), "row of the queue could not be used; its content is in the copy.", "rows of the queue could not be used; their content is in the copy.")))
	}
	if r.Without > 0 {
		f = append(f, ui.Para(plural(int64(r.Without), "drawer has no vector left; its text is there.", "drawers have no vector left; their texts are there.")))
	}
	f = append(f, lineFields("Moved", r.Moved)...)
	f = append(f, ui.Blank())
	f = append(f, sayField("Checked", verifiedWords(r.Verified))...)
	f = append(f, backupField(r.Backup)...)
	if r.Undo != "" && !r.RolledBack {
		f = append(f, ui.Field{Label: "Undo", Text: ui.Plain("u takes it back; so does castellan undo.")})
	}
	return f
}

// verifiedWords name what was seen to be right.
func verifiedWords(v repair.Verified) string {
	var parts []string
	for _, p := range []struct {
		seen bool
		word string
	}{{v.Backup, "the copy"}, {v.Database, "the database"}, {v.FullText, "its full-text index"}, {v.Rows, "every drawer counted"},
		{v.Samples, "texts and vectors against the copy"}, {v.Sidecars, "the files beside it untouched"}, {len(v.Chroma) > 0, "chromadb opened it"}} {
		if p.seen {
			parts = append(parts, p.word)
		}
	}
	return strings.Join(parts, ", ")
}

// undoableRepair tells whether a result is a repair that can be taken back.
func undoableRepair(detail any) bool {
	r, ok := detail.(*repair.Result)
	return ok && r.Undo != "" && !r.RolledBack
}
