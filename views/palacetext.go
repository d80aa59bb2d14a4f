package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"castellan/palace/health"
	"castellan/theme"
	"castellan/ui"
)

// shownFindings is how many findings a palace's pane names before it counts.
const shownFindings = 6

// tellPalace is the pane beside the list of palaces: what is so, and who has it.
func (s *palaces) tellPalace() []ui.Field {
	r := s.current()
	if r == nil {
		return noteFields(s.app, nil)
	}
	return slices.Concat(s.app.palaceFields(r), s.app.repairFields(r), noteFields(s.app, r))
}

// palaceFields tell of one palace what a person needs to know first.
func (a *App) palaceFields(r *reading) []ui.Field {
	if r.report == nil {
		return []ui.Field{{Text: ui.Plain(a.path(r))}, {Text: ui.In(theme.Faint, a.silence(r))}}
	}
	rep := r.report
	fields := []ui.Field{{Text: ui.Line{{Text: a.path(r), Role: theme.Title}, {Text: "  " + a.makeup(rep), Role: theme.Faint}}}}
	if rep.Error != nil {
		fields = append(fields, trouble(a.th, rep.Error)...)
	}
	fields = append(fields, a.findingLines(rep)...)
	fields = append(fields, ui.Field{Text: a.lockLine(rep.Lock)})
	if n := others(rep); n > 0 {
		fields = append(fields, ui.Field{Text: ui.In(theme.Faint, plural(n, "other process has", "other processes have")+" files of it open.")})
	}
	return fields
}

// others is how many processes beside the holder have files of the palace open.
func others(r *health.Report) (n int64) {
	for _, o := range r.Openers {
		if h := r.Lock.Holder; h == nil || h.PID == nil || *h.PID != o.PID {
			n++
		}
	}
	return n
}

// silence says that a palace has not answered yet.
func (a *App) silence(r *reading) string {
	if late := r.late(a.opts.Now()); late >= slowPalace {
		return "No answer for " + span(late) + ". The disk may be slow or gone; everything else goes on. r asks again."
	}
	return "Being read."
}

// makeup is what a palace is made of: engine, model, dimension.
func (a *App) makeup(r *health.Report) string {
	facts := []string{engineWord(r.Palace.Backend)}
	if c := mainCollection(r, a.house.main); c != nil {
		if c.Embedder != nil {
			facts = append(facts, *c.Embedder)
		}
		if c.Dimension != nil {
			facts = append(facts, fmt.Sprintf("%d-d", *c.Dimension))
		}
	}
	if r.Palace.ReadOnly {
		facts = append(facts, "read-only")
	}
	return dot(a.th, facts...)
}

// engineWord is an engine by the name people know.
func engineWord(kind string) string {
	switch kind {
	case "chroma":
		return "Chroma"
	case "chroma_http":
		return "Chroma server"
	case "sqlite_exact":
		return "sqlite_exact"
	case "qdrant":
		return "Qdrant"
	case "milvus":
		return "Milvus"
	case "unknown":
		return ""
	}
	return kind
}

// trouble is why a palace could not be read.
func trouble(th theme.Theme, e *health.Error) []ui.Field {
	fields := []ui.Field{{Text: ui.Line{{Text: th.Mark(theme.Fail) + " ", Role: theme.Error}, {Text: sentence(e.Message)}}}}
	if e.Next != "" && !strings.Contains(e.Message, e.Next) {
		fields = append(fields, ui.Field{Text: ui.In(theme.Faint, sentence(e.Next))})
	}
	return fields
}

// findingLines name the findings, the worst first, without the remarks that say
// only what the lock line says too.
func (a *App) findingLines(r *health.Report) []ui.Field {
	var out []ui.Field
	var remarks, bad int64
	for _, f := range r.Findings {
		if r.Error != nil && strings.HasPrefix(f.Cause, r.Error.Message) {
			continue // said already
		}
		if f.Severity == health.Info {
			if f.Code != health.LockHeld && f.Code != health.LockLastHolderDead {
				remarks++
			}
			continue
		}
		if bad++; bad <= shownFindings {
			out = append(out, ui.Field{Text: a.findingLine(f)})
		}
	}
	if more := bad - int64(len(out)); more > 0 {
		out = append(out, ui.Field{Text: ui.In(theme.Faint, "and "+plural(more, "more finding", "more findings"))})
	}
	if bad == 0 && r.Error == nil {
		well := "Nothing is wrong"
		if remarks > 0 {
			well += ", " + plural(remarks, "remark", "remarks")
		}
		out = append(out, ui.Field{Text: ui.Line{{Text: a.th.Mark(theme.Good) + " ", Role: theme.OK}, {Text: well + "."}}})
	}
	return out
}

// findingLine is a finding in a sentence.
func (a *App) findingLine(f health.Finding) ui.Line {
	sev := severity(f.Severity)
	return ui.Line{{Text: a.th.Mark(sev) + " ", Role: sev.Role()}, {Text: sentence(f.Cause)}}
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	if !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	if c := s[0]; c >= 'a' && c <= 'z' && !strings.ContainsAny(strings.Fields(s)[0], "_/.") {
		s = string(c-'a'+'A') + s[1:]
	}
	return s
}

// lockLine says who has the palace.
func (a *App) lockLine(l health.Lock) ui.Line {
	mark := a.th.Glyphs.Held + " "
	switch l.State {
	case "held":
		return ui.Line{{Text: mark, Role: theme.Held}, {Text: "Held by " + a.holderWords(l.Holder) + "."}}
	case "free":
		return ui.In(theme.Faint, "Nobody holds it."+lastHolder(l.LastHolder))
	case "no_directory":
		return ui.In(theme.Faint, "Nobody holds it: MemPalace has made no folder for locks yet.")
	}
	return ui.In(theme.Warning, "Who holds it cannot be told from here."+lastHolder(l.LastHolder))
}

// holderWords describe a holder: who, since when, doing what, for whom.
func (a *App) holderWords(h *health.Holder) string {
	if h == nil || h.Identity == "unknown" {
		return "a process that cannot be seen from here"
	}
	who := "a process"
	if h.PID != nil {
		who = fmt.Sprintf("PID %d", *h.PID)
	}
	if c := value(h.Command); c != "" {
		who += "  " + c
	}
	var facts []string
	if role := value(h.Role); role != "" && role != "other" && !strings.Contains(who, role) {
		facts = append(facts, role)
	}
	if t := stamp(h.Started); !t.IsZero() {
		facts = append(facts, "running for "+span(a.opts.Now().Sub(t)))
	}
	if h.IdleSeconds != nil && *h.IdleSeconds >= 60 {
		facts = append(facts, "idle for "+span(time.Duration(*h.IdleSeconds)*time.Second))
	} else if h.CPUPercent != nil {
		facts = append(facts, fmt.Sprintf("%.0f%% CPU", *h.CPUPercent))
	}
	if len(h.Parents) > 0 {
		facts = append(facts, "started by "+h.Parents[0])
	}
	if value(h.Orphan) {
		facts = append(facts, "whoever started it has exited")
	}
	if h.Identity == "recorded" {
		facts = append(facts, "as the lock file says; the system does not show it from here")
	}
	if len(facts) > 0 {
		who += ", " + strings.Join(facts, ", ")
	}
	return who
}

func lastHolder(l *health.LastHolder) string {
	if l == nil || l.PID == nil {
		return ""
	}
	s := fmt.Sprintf(" PID %d had it last", *l.PID)
	switch {
	case l.Alive == nil:
		return s + "."
	case *l.Alive:
		return s + " and still runs."
	}
	return s + " and has exited."
}

// noteFields are what was noticed when looking for palaces: about one of them,
// or for nil about the surroundings.
func noteFields(a *App, r *reading) []ui.Field {
	notes := a.house.notes
	if r != nil {
		notes = r.found.Notes
	}
	var out []ui.Field
	for _, n := range notes {
		out = append(out, ui.Field{Text: ui.Line{{Text: a.th.Mark(theme.Note) + " ", Role: theme.Info}, {Text: sentence(n.Text)}}})
	}
	if r != nil && len(r.found.Aliases) > 0 {
		out = append(out, ui.Field{Text: ui.In(theme.Faint, "Also known as "+strings.Join(r.found.Aliases, ", ")+".")})
	}
	return out
}
