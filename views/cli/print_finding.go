package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"castellan/palace/health"

	"github.com/dustin/go-humanize"
)

// detail is how much people are told of findings.
type detail int

const (
	// brief: what needs attention, without evidence.
	brief detail = iota
	// toured: what needs attention with evidence, the rest once for each kind.
	toured
	// everything, with evidence.
	everything
)

// printFindings prints findings, worst first as the report has them, with a
// line that adds them up.
func (a *app) printFindings(list []health.Finding, d detail) {
	remarks := map[health.Code]int{}
	for _, f := range list {
		if f.Severity != health.Info || d == everything {
			a.printFinding(f, d > brief)
			a.gap()
			continue
		}
		remarks[f.Code]++
		if d == toured && remarks[f.Code] == 1 {
			a.printFinding(f, false)
			a.gap()
		}
	}
	writeLine(a.out, findingsTotal(list))
}

// printFinding prints one finding: how bad, what, why we say so, what now.
func (a *app) printFinding(f health.Finding, evidence bool) {
	head := "[" + a.ink.severity(f.Severity, clean(string(f.Severity))) + "] " + a.ink.bold(clean(string(f.Code)))
	if f.Subject != "" {
		head += "  " + clean(f.Subject)
	}
	writeLine(a.out, head)
	a.paragraph("  ", "  ", sentence(f.Cause))
	if evidence {
		for _, key := range slices.Sorted(maps.Keys(f.Evidence)) {
			a.paragraph("    ", "      ", clean(strings.ReplaceAll(key, "_", " "))+": "+evidenceWords(key, f.Evidence[key]))
		}
	}
	if s := remedyWords(f.Remedy); s != "" {
		a.paragraph("  -> ", "     ", s)
	}
}

// sentence gives a cause its capital and its full stop, unless it begins with
// a name.
func sentence(s string) string {
	s = clean(s)
	word, _, _ := strings.Cut(s, " ")
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz,;:") == "" {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if s != "" && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "?") {
		s += "."
	}
	return s
}

// remedyWords says what can be done, or why nothing can.
func remedyWords(r *health.Remedy) string {
	if r == nil {
		return ""
	}
	var parts []string
	for _, s := range []string{clean(r.Action), clean(r.Reason)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " – ")
}

// evidenceShown bounds the elements of a list that people are shown.
const evidenceShown = 8

// evidenceWords renders any figure a finding rests on. Numbers that are names,
// such as a PID, keep their digits together.
func evidenceWords(key string, v any) string {
	switch v := v.(type) {
	case nil:
		return unread
	case string:
		if v == "" {
			return "(none)"
		}
		return clean(v)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case int:
		return evidenceWords(key, int64(v))
	case int64:
		if key == "pid" || strings.HasSuffix(key, "_pid") {
			return fmt.Sprint(v)
		}
		return humanize.Comma(v)
	case float64:
		return humanize.CommafWithDigits(v, 3)
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return evidenceWords(key, list)
	case []any:
		var parts []string
		for _, e := range v[:min(len(v), evidenceShown)] {
			parts = append(parts, evidenceWords(key, e))
		}
		if more := len(v) - evidenceShown; more > 0 {
			parts = append(parts, fmt.Sprintf("and %d more", more))
		}
		return strings.Join(parts, ", ")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return clean(fmt.Sprint(v))
	}
	return clean(string(b))
}

// findingsTotal adds findings up by severity, worst first.
func findingsTotal(list []health.Finding) string {
	if len(list) == 0 {
		return "Nothing to report."
	}
	n := map[health.Severity]int64{}
	for _, f := range list {
		n[f.Severity]++
	}
	var parts []string
	for _, s := range []struct {
		severity  health.Severity
		one, many string
	}{
		{health.Danger, "danger", "dangers"}, {health.Bad, "error", "errors"},
		{health.Warning, "warning", "warnings"}, {health.Info, "remark", "remarks"},
	} {
		if n[s.severity] > 0 {
			parts = append(parts, plural(n[s.severity], s.one, s.many))
		}
	}
	return plural(int64(len(list)), "finding", "findings") + ": " + strings.Join(parts, ", ") + "."
}
