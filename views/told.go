package views

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"castellan/palace/action"
	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// told is a run as its events tell it: one that goes on, or one of the log.
type told struct {
	id             action.ID
	title, palace  string
	plan           action.Plan
	state          action.State
	started, ended time.Time

	waiting  *action.Waiting
	phases   []action.Phase // in their order; the last one is under way
	count    action.Progress
	progress ui.Progress
	log      *ui.Log
	result   action.Result
	err      error
	at       time.Time // of the last event
	began    time.Time // when its phase did
	// short says what of a log is missing; "" if nothing is.
	short string
}

// toldLines is how many lines of one run are kept.
const toldLines = 2000

// newTold is a run that has not said anything yet; room is for how many lines.
func newTold(r action.Record, room int) *told {
	t := &told{id: r.ID, title: r.Title, palace: r.Palace, plan: r.Plan, state: r.State, started: r.Started, ended: r.Ended,
		err: r.Err, result: action.Result{Summary: r.Summary}, at: r.Started}
	t.log = ui.NewLog(room, func() time.Time { return t.at })
	return t
}

// take takes one event over.
func (t *told) take(e action.Event) {
	t.at = e.At
	switch d := e.Detail.(type) {
	case action.Changed:
		t.state = d.State
		if d.State != action.StateWaiting {
			t.waiting = nil
		}
	case action.Waiting:
		t.waiting = &d
	case action.Phase:
		t.waiting = nil
		t.phases, t.count, t.began = append(t.phases, d), action.Progress{}, e.At
		t.progress.Begin(d.Name, d.N, d.Of, "", e.At)
		t.log.Add(theme.Note, fmt.Sprintf("%d/%d %s", d.N, d.Of, d.Name))
	case action.Progress:
		if d.Unit != t.count.Unit && len(t.phases) > 0 {
			p := t.phases[len(t.phases)-1]
			t.progress.Begin(p.Name, p.N, p.Of, d.Unit, t.began)
		}
		t.count = d
		t.progress.Set(d.Done, d.Total, e.At)
	case action.Log:
		t.log.Add(logSeverity(d.Level), d.Text)
	case action.Finding:
		t.log.Add(theme.Note, "found: "+findingText(d.Value))
	case action.Finished:
		t.state, t.ended, t.waiting = d.State, e.At, nil
		t.result, t.err = d.Result, d.Err
	}
}

func logSeverity(l action.Level) theme.Severity {
	switch l {
	case action.LevelWarn:
		return theme.Warn
	case action.LevelError:
		return theme.Fail
	}
	return theme.Note
}

// findingShown is how much of a finding stands in the log, in bytes.
const findingShown = 300

// findingText is a finding in the words it has for people, or as it is logged.
func findingText(v any) string {
	out := fmt.Sprint(v)
	if _, words := v.(fmt.Stringer); !words {
		if b, err := json.Marshal(v); err == nil {
			out = string(b)
		}
	}
	out, _ = text.Bound(out, findingShown, text.CutEnd)
	return out
}

// phase is the one under way; N is 0 before the first.
func (t *told) phase() action.Phase {
	if len(t.phases) == 0 {
		return action.Phase{}
	}
	return t.phases[len(t.phases)-1]
}

// over tells whether nothing more will come.
func (t *told) over() bool { return t.state.Over() || t.state == action.StateUnfinished }

// stateRole is how a state looks beside its word.
func stateRole(s action.State) theme.Role {
	switch s {
	case action.StateDone:
		return theme.OK
	case action.StateFailed:
		return theme.Error
	case action.StateCancelled, action.StateCancelling, action.StateUnfinished:
		return theme.Warning
	case action.StateWaiting:
		return theme.Held
	}
	return theme.Accent
}

// doing is what a run does now, in a sentence.
func (t *told) doing(now time.Time) ui.Line {
	role := stateRole(t.state)
	switch t.state {
	case action.StatePlanned:
		return ui.In(role, "about to start")
	case action.StateWaiting:
		s := "waiting for the palace"
		if w := t.waiting; w != nil {
			s = "waiting for " + holderName(w.Holder.Process) + ", " + span(now.Sub(w.Since))
			if left := w.Deadline.Sub(now); !w.Deadline.IsZero() && left > 0 {
				s += "; gives up in " + span(left)
			}
		}
		return ui.In(role, s)
	case action.StateCancelling:
		if p := t.phase(); p.N > 0 && !p.CanStop {
			return ui.In(role, "cancelling: "+p.Name+" cannot be left half-way, it ends after that")
		}
		return ui.In(role, "cancelling")
	case action.StateRunning:
		return ui.Line{{Text: "running", Role: role}, {Text: " for " + span(now.Sub(t.started)), Role: theme.Faint}}
	}
	return ui.In(role, string(t.state))
}

// steps are the phases in one line: what is done, what is under way, and how many
// are still to come.
func (t *told) steps(th theme.Theme) ui.Line {
	var line ui.Line
	for i, p := range t.phases {
		mark, role := th.Glyphs.Done, theme.OK
		if i == len(t.phases)-1 && t.state != action.StateDone {
			mark, role = th.Glyphs.Now, theme.Accent
		}
		if i > 0 {
			line = append(line, ui.Span{Text: "  "})
		}
		line = append(line, ui.Span{Text: mark + " ", Role: role}, ui.Span{Text: p.Name, Role: theme.Text})
	}
	if p := t.phase(); p.Of > p.N && !t.over() {
		line = append(line, ui.Span{Text: fmt.Sprintf("  %s %d more", th.Glyphs.Next, p.Of-p.N), Role: theme.Faint})
	}
	return line
}

// share is how far a run is, in words for a table.
func (t *told) share() string {
	p := t.phase()
	if p.N == 0 {
		return ""
	}
	s := fmt.Sprintf("%d/%d %s", p.N, p.Of, p.Name)
	if pct := ui.Percent(t.count.Done, t.count.Total); pct != "" {
		s += " " + pct
	} else if t.count.Done > 0 {
		s += " " + comma(t.count.Done)
	}
	return s
}

// whyNot is why a run did not end well, with what to do; "" if it did.
func (t *told) whyNot() string {
	if t.err == nil || t.state == action.StateCancelled && errors.Is(t.err, action.ErrCancelled) {
		return ""
	}
	return t.err.Error()
}
