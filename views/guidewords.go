package views

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"castellan/locks"
	"castellan/palace/action"
	"castellan/palace/action/closing"
	"castellan/theme"
	"castellan/ui"
)

// holderName is a process in a few words.
func holderName(p locks.Process) string {
	if p.PID == 0 {
		return "somebody out of sight"
	}
	return strings.TrimSpace(fmt.Sprintf("PID %d %s", p.PID, command(p)))
}

// planFields tell a plan in full, or why there is none.
func (a *App) planFields(p action.Plan, err error) []ui.Field {
	return homelyFields(planText(p, err), a.opts.Home)
}

func planText(p action.Plan, err error) []ui.Field {
	var f []ui.Field
	if p.Title != "" {
		f = append(f, ui.Field{Text: ui.In(theme.Title, p.Title)})
	}
	if err != nil {
		f = append(f, refusalFields("Not now", err)...)
	} else if p.Refusal != nil {
		f = append(f, refusalFields("Not now", p.Refusal)...)
	}
	if len(p.Steps) == 0 && p.Reason == "" {
		return f
	}
	f = append(f, ui.Blank())
	f = append(f, sayField("Means", p.Reason)...)
	steps := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = fmt.Sprintf("%d. %s", i+1, s)
	}
	f = append(f, lineFields("Will", steps)...)
	f = append(f, lineFields("Touches", p.Touches)...)
	f = append(f, lineFields("Leaves", p.Leaves)...)
	f = append(f, backupField(p.Backup)...)
	f = append(f, sayField("Needs", needs(p))...)
	for i := range p.Holders {
		h := &p.Holders[i]
		words := holderName(h.Process)
		if a := activity(h); a != "held" {
			words += ", " + a
		}
		f = append(f, lineFields(map[bool]string{true: "Held by", false: " "}[i == 0], []string{words})...)
	}
	if p.Refusal == nil && err == nil {
		f = append(f, sayField("Asks", asks(p))...)
	}
	return f
}

// agreement is what stands in the question: what one agrees to.
func agreement(p action.Plan) []ui.Field {
	f := lineFields("Will", p.Steps)
	f = append(f, lineFields("Touches", p.Touches)...)
	f = append(f, backupField(p.Backup)...)
	if p.Backup == "" && p.Risk == action.RiskDestructive {
		f = append(f, ui.Para("There is no backup: this cannot be undone."))
	}
	return f
}

func backupField(path string) []ui.Field {
	if path == "" {
		return nil
	}
	return lineFields("Backup", []string{path})
}

func asks(p action.Plan) string {
	switch p.Risk {
	case action.RiskDestructive:
		s := "for " + p.TypedName + " to be typed"
		if p.Backup == "" {
			s += ": this cannot be undone"
		}
		return s
	case action.RiskReversible:
		return "once before it starts"
	}
	return "nothing: it starts at once"
}

func needs(p action.Plan) string {
	var parts []string
	if p.BytesNeeded != nil {
		s := humanize.Bytes(uint64(max(*p.BytesNeeded, 0)))
		if p.BytesFree != nil {
			s += " of disk (" + humanize.Bytes(uint64(max(*p.BytesFree, 0))) + " free)"
		}
		parts = append(parts, s)
	}
	if p.Estimate >= time.Second {
		parts = append(parts, "about "+ui.Duration(p.Estimate))
	}
	return strings.Join(parts, ", ")
}

// refusalFields are what is in the way and the way out.
func refusalFields(label string, err error) []ui.Field {
	f := []ui.Field{ui.Blank()}
	r := refusedAs(err)
	if r == nil {
		return append(f, ui.Field{Label: label, Text: ui.In(theme.Error, sentence(err.Error()))})
	}
	reason := r.Reason
	if r.Subject != "" {
		reason = r.Subject + ": " + reason
	}
	f = append(f, ui.Field{Label: label, Text: ui.In(theme.Warning, sentence(reason))})
	if r.Next != "" {
		f = append(f, ui.Field{Label: "Next", Text: ui.Plain(sentence(r.Next))})
	}
	return f
}

// sayField is a field if there is something to say.
func sayField(label, s string) []ui.Field {
	if s == "" {
		return nil
	}
	return []ui.Field{{Label: label, Text: ui.Plain(sentence(s))}}
}

// lineFields are lines under one label.
func lineFields(label string, list []string) []ui.Field {
	var f []ui.Field
	for _, s := range list {
		f = append(f, ui.Field{Label: label, Text: ui.Plain(s)})
		label = " "
	}
	return f
}

// Results may tell more than their summary, in the words of one of these.
type (
	// compared has figures from before and after: name, before, after.
	compared interface{ Compared() [][3]string }
	// undoable says how to undo what was done.
	undoable interface{ UndoHint() string }
)

// resultFields tell how a run went, and all it said.
func (a *App) resultFields(t *told) []ui.Field {
	return homelyFields(a.resultText(t), a.opts.Home)
}

func (a *App) resultText(t *told) []ui.Field {
	sev, _ := t.verdict()
	f := []ui.Field{{Text: ui.In(theme.Title, t.title)}, ui.Blank()}
	head := ui.Line{{Text: a.th.Mark(sev) + " " + string(t.state), Role: stateRole(t.state)}}
	if !t.ended.IsZero() {
		head = append(head, ui.Span{Text: " after " + ui.Duration(t.ended.Sub(t.started)) + ", " + clockTime(t.ended, a.opts.Now()), Role: theme.Faint})
	}
	f = append(f, ui.Field{Text: head})
	if t.result.Summary != "" {
		f = append(f, ui.Para(sentence(t.result.Summary)))
	}
	if t.state == action.StateUnfinished {
		f = append(f, ui.Para(a.unfinished(t)))
	}
	if t.whyNot() != "" {
		f = append(f, refusalFields("Because", t.err)...)
	}
	f = append(f, a.detailFields(t)...)
	f = append(f, ui.Blank(), ui.Field{Label: "Palace", Text: ui.Plain(tilde(t.palace, a.opts.Home))},
		ui.Field{Label: "Started", Text: ui.Plain(clockTime(t.started, a.opts.Now()))})
	if t.short != "" {
		f = append(f, ui.Field{Label: "Log", Text: ui.In(theme.Warning, t.short)})
	}
	label := "Log"
	for _, l := range t.log.Lines() {
		f = append(f, ui.Field{Label: label, Text: ui.Line{{Text: l.At.Format("15:04:05") + " ", Role: theme.Faint}, {Text: a.th.Mark(l.Severity) + " ", Role: l.Severity.Role()}, {Text: l.Text}}})
		label = " "
	}
	return f
}

func (a *App) detailFields(t *told) []ui.Field {
	var f []ui.Field
	if d, ok := t.result.Detail.(compared); ok {
		f = append(f, ui.Blank())
		f = append(f, comparedFields(d.Compared())...)
	}
	if d, ok := t.result.Detail.(*closing.Outcome); ok {
		f = append(f, closedFields(d)...)
	}
	f = append(f, changedFields(t.result.Detail)...)
	if d, ok := t.result.Detail.(undoable); ok {
		if hint := d.UndoHint(); hint != "" {
			f = append(f, ui.Field{Label: "Undo", Text: ui.Plain(hint)})
		}
	}
	return f
}

// comparedFields put figures from before and after side by side.
func comparedFields(figures [][3]string) []ui.Field {
	var f []ui.Field
	rows := append([][3]string{{" ", "before", "after"}}, figures...)
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r[1])) // figures, so bytes are cells
	}
	for _, r := range rows {
		f = append(f, ui.Field{Label: r[0], Text: ui.Plain(fmt.Sprintf("%*s  %s", wide, r[1], r[2]))})
	}
	return f
}

// closedFields tell whom closing asked, and what became of them.
func closedFields(o *closing.Outcome) []ui.Field {
	f := []ui.Field{ui.Blank()}
	for _, s := range o.Asked {
		end := "has not ended"
		if s.Exited {
			end = "has ended"
		}
		f = append(f, ui.Field{Label: "Asked", Text: ui.Plain(fmt.Sprintf("PID %d, with %s: %s", s.PID, s.Signal, end))})
	}
	for _, h := range o.Remaining {
		f = append(f, ui.Field{Label: "Still has it", Text: ui.In(theme.Held, holderName(h.Process))})
	}
	for _, r := range o.CameBack {
		words := fmt.Sprintf("PID %d %s", r.PID, r.Command)
		if r.Parent != nil {
			words += ", started by " + *r.Parent
		}
		f = append(f, ui.Field{Label: "Came back", Text: ui.In(theme.Warning, words)})
	}
	if len(o.Remaining) > 0 {
		f = append(f, ui.Para("K ends it by force: it cannot finish what it is writing then."))
	}
	if len(o.CameBack) > 0 {
		f = append(f, ui.Para("What starts it will start it again: end that, or pause MemPalace's automatic saves."))
	}
	if o.HooksPaused {
		f = append(f, ui.Para("MemPalace's automatic saves are off. The command \"resume\" (press : and type it) puts them back."))
	}
	return f
}

// jsonText is a value for programs; "" if there is none.
func jsonText(v any) string {
	if v == nil {
		return ""
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return ""
	}
	return string(b)
}

// cameBack tells whether somebody had the palace again after it was closed.
func cameBack(t *told) bool {
	o, ok := t.result.Detail.(*closing.Outcome)
	return ok && len(o.CameBack) > 0
}
