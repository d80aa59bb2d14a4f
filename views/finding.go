package views

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"castellan/palace/health"
	"castellan/theme"
	"castellan/ui"
)

// findingFields are a finding in full: what is so, how we know, what now. Where
// they are for a screen, keys name those that mend it.
func (a *App) findingFields(f health.Finding, from string, keys ...ui.Field) []ui.Field {
	head := ui.Line{badge(a.th, severity(f.Severity)), {Text: "  " + string(f.Code), Role: theme.Title}}
	if from != "" {
		head = append(head, ui.Span{Text: "  " + from, Role: theme.Faint})
	}
	fields := []ui.Field{{Text: head}, {Text: ui.Plain(sentence(f.Cause))}, ui.Blank()}
	if what := a.remedy(f.Remedy); what != "" {
		fields = append(fields, ui.Field{Label: "what now", Text: ui.Plain(what)})
	} else {
		fields = append(fields, ui.Field{Label: "what now", Text: ui.In(theme.Faint, "Nothing needs doing.")})
	}
	fields = append(fields, keys...)
	fields = append(fields, ui.Field{Label: "means", Text: ui.Plain(meaning(f.Severity))})
	if f.Subject != "" {
		fields = append(fields, ui.Field{Label: "about", Text: ui.Plain(tilde(f.Subject, a.opts.Home))})
	}
	if len(f.Evidence) > 0 {
		fields = append(fields, ui.Blank(), ui.Field{Text: ui.In(theme.Header, "How we know")})
		for _, key := range slices.Sorted(maps.Keys(f.Evidence)) {
			fields = append(fields, ui.Field{Label: strings.ReplaceAll(key, "_", " "), Text: ui.Plain(evidenceWords(f.Evidence[key]))})
		}
	}
	return fields
}

// meaning is a severity in plain words.
func meaning(s health.Severity) string {
	switch s {
	case health.Info:
		return "Worth knowing; all is well."
	case health.Warning:
		return "It works. Look at it when there is time."
	case health.Bad:
		return "Answers are wrong or incomplete, or writes are not applied."
	}
	return "Opening it with Chroma or MemPalace may crash it or lose data."
}

// remedy says what can be done. A command is named only if this castellan has
// it; otherwise the reason says what helps.
func (a *App) remedy(r *health.Remedy) string {
	if r == nil {
		return ""
	}
	var parts []string
	if r.Action != "" && a.hasCommands(r.Action) {
		parts = append(parts, sentence(r.Action))
	}
	if r.Reason != "" {
		parts = append(parts, sentence(r.Reason))
	}
	return strings.Join(parts, " ")
}

// hasCommands tells whether every castellan command that a text names exists.
func (a *App) hasCommands(text string) bool {
	words := strings.Fields(text)
	for i, w := range words {
		if strings.Trim(w, "`'\",.;:()") != "castellan" || i+1 == len(words) {
			continue
		}
		if !slices.Contains(a.opts.Commands, strings.Trim(words[i+1], "`'\",.;:()")) {
			return false
		}
	}
	return true
}

// evidenceShown bounds the elements of a list that are shown.
const evidenceShown = 12

// evidenceWords render any figure a finding rests on.
func evidenceWords(v any) string {
	switch v := v.(type) {
	case nil:
		return unread
	case string:
		return v
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case int:
		return comma(int64(v))
	case int64:
		return comma(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return comma(int64(v))
		}
		return humanize.CommafWithDigits(v, 3)
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return evidenceList(list)
	case []any:
		return evidenceList(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func evidenceList(list []any) string {
	var parts []string
	for i, v := range list {
		if i == evidenceShown {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		parts = append(parts, evidenceWords(v))
	}
	return strings.Join(parts, ", ")
}
