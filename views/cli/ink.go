package cli

import (
	"os"

	"castellan/palace/health"

	"github.com/charmbracelet/x/ansi"
)

// ink underlines words with colour where a terminal shows it. No word depends
// on it: without colour the same words are printed.
type ink struct{ on, strong bool }

// newInk decides once for the run. Only the sixteen basic colours are used,
// which every light or dark palette keeps readable.
func newInk(out any, f globals) ink {
	if f.plain || f.json || f.theme == "none" || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !isTerminal(out) {
		return ink{}
	}
	return ink{on: true, strong: f.theme == "high-contrast"}
}

func (k ink) style(s ansi.Style, text string) string {
	if !k.on || text == "" {
		return text
	}
	return s.Styled(text)
}

// bold marks headings and names.
func (k ink) bold(text string) string { return k.style(ansi.Style{}.Bold(), text) }

// faint marks what is secondary; in high contrast nothing is.
func (k ink) faint(text string) string {
	if k.strong {
		return text
	}
	return k.style(ansi.Style{}.Faint(), text)
}

// severity colours a word by how bad it is.
func (k ink) severity(s health.Severity, text string) string {
	switch s {
	case health.Danger, health.Bad:
		return k.style(k.accent(ansi.Red), text)
	case health.Warning:
		return k.style(k.accent(ansi.Yellow), text)
	}
	return text
}

// verdict colours a verdict by how bad it is.
func (k ink) verdict(v health.Verdict) string {
	switch v {
	case health.VerdictDanger:
		return k.severity(health.Danger, "DANGER")
	case health.VerdictError:
		return k.severity(health.Bad, string(v))
	case health.VerdictWarning:
		return k.severity(health.Warning, string(v))
	}
	return clean(string(v))
}

func (k ink) accent(c ansi.BasicColor) ansi.Style {
	s := ansi.Style{}.Bold()
	if k.strong {
		return s.Reverse(true)
	}
	return s.ForegroundColor(c)
}
