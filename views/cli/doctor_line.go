package cli

import (
	"fmt"
	"os"
	"time"

	"castellan/palace/health"

	"github.com/charmbracelet/x/ansi"
)

// doctorLine is the line on the terminal that tells how far a check is; done
// takes it away again. Where standard error is no terminal nothing is told, and
// where lines cannot be rewritten one sentence is.
func (a *app) doctorLine() (w health.Watch, done func()) {
	const lead = "Checking everything; ctrl+c stops."
	if !isTerminal(a.Err) {
		return w, func() {}
	}
	if a.flags.plain || os.Getenv("TERM") == "dumb" {
		a.say("%s", lead)
		return w, func() {}
	}
	var last time.Time
	var progress health.Progress
	worst, found := health.VerdictOK, []health.Finding(nil)
	tell := func(now bool) {
		if !now && time.Since(last) < 100*time.Millisecond {
			return
		}
		last = time.Now()
		s := fmt.Sprintf("%s %3.0f %%", lead, 100*progress.Share())
		if progress.Doing != "" {
			s += ", " + progress.Doing
		}
		if worst != health.VerdictOK {
			s += fmt.Sprintf(" – so far: %s (%s)", worst, plural(int64(len(found)), "finding", "findings"))
		}
		if width := a.width; width > 1 {
			s = ansi.Truncate(s, width-1, "…")
		}
		fmt.Fprint(a.Err, "\r"+s+ansi.EraseLineRight)
	}
	tell(true)
	w.Progress = func(p health.Progress) { progress = p; tell(false) }
	w.Finding = func(f health.Finding) {
		found = append(found, f)
		was := worst
		worst = health.VerdictOf(found)
		tell(worst != was)
	}
	return w, func() { fmt.Fprint(a.Err, "\r"+ansi.EraseLineRight) }
}
