package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"castellan/theme"
	"castellan/ui/text"
)

// Progress is how far one phase of a run is. It keeps no time of its own: whoever
// calls says what time it is, so that a frame can be drawn again exactly.
type Progress struct {
	phase       string
	step, steps int // phase step of steps; 0 of 0 if there is only one
	done, total int64
	unit        string
	started     time.Time
	moved       time.Time // when done last grew
	samples     []sample
	wait        string
}

type sample struct {
	at   time.Time
	done int64
}

const (
	etaAfter   = 5 * time.Second
	stallAfter = 30 * time.Second
	// The rate is that of the last sampleCount samples, sampleGap apart: about
	// what has happened in the last quarter of a minute.
	sampleGap   = time.Second
	sampleCount = 16
)

// Begin starts a phase: its name, which one it is of how many (0, 0 if there is
// only one), and what is counted.
func (p *Progress) Begin(phase string, step, steps int, unit string, now time.Time) {
	*p = Progress{phase: phase, step: step, steps: steps, unit: unit, started: now, moved: now,
		samples: []sample{{now, 0}}}
}

// Set says how much is done. A total of 0 is not known: then there is a count
// and no bar, since a bar would be made up.
func (p *Progress) Set(done, total int64, now time.Time) {
	if len(p.samples) == 0 {
		p.Begin("", 0, 0, "", now)
	}
	p.wait = ""
	p.total = total
	if done < p.done {
		p.samples = []sample{{now, done}} // it began anew
	}
	if done != p.done {
		p.moved = now
	}
	p.done = done
	if last := p.samples[len(p.samples)-1]; now.Sub(last.at) >= sampleGap {
		p.samples = append(p.samples, sample{now, done})
		if len(p.samples) > sampleCount {
			p.samples = p.samples[1:]
		}
	}
}

// Wait says what the run waits for; standing still is no stall then.
func (p *Progress) Wait(what string) { p.wait = what }

// Rate is how many are done in a second, 0 if that is not known yet. It falls
// while nothing happens.
func (p *Progress) Rate(now time.Time) float64 {
	if len(p.samples) == 0 {
		return 0
	}
	first := p.samples[0]
	dt := now.Sub(first.at)
	if dt < sampleGap {
		return 0
	}
	return float64(p.done-first.done) / dt.Seconds()
}

// Left is the time to the end at the present rate; false for the first seconds,
// without a total, and when nothing moves.
func (p *Progress) Left(now time.Time) (time.Duration, bool) {
	rate := p.Rate(now)
	if now.Sub(p.started) < etaAfter || p.total <= 0 || rate <= 0 || p.done >= p.total {
		return 0, false
	}
	secs := float64(p.total-p.done) / rate
	if secs > 365*24*3600 {
		return 0, false
	}
	return time.Duration(secs * float64(time.Second)), true
}

// View draws one line of w cells. spinner, from Busy, stands where a bar would,
// if there is no total.
func (p *Progress) View(th theme.Theme, spinner string, w int, now time.Time) string {
	if w <= 0 {
		return ""
	}
	r := Ruler(th)
	name := oneLine(p.phase)
	if p.steps > 1 {
		name = fmt.Sprintf("%d/%d %s", p.step, p.steps, name)
	}
	facts := p.facts(now)
	line := " " + th.Paint(theme.Title, name)
	used := 1 + r.Width(name)
	// Facts go from the end while the line is too long; the bar takes what is
	// left, and goes before any fact does.
	for len(facts) > 1 && used+factsWidth(r, facts) > w {
		facts = facts[:len(facts)-1]
	}
	facts[0].Text = r.Truncate(facts[0].Text, max(w-used-2, 0), text.CutEnd)
	switch room := w - used - factsWidth(r, facts) - 2; {
	case p.total > 0 && room >= barMin:
		line += "  " + Bar(th, p.done, p.total, min(room, 2*barMax), theme.Accent)
	case p.total <= 0 && spinner != "":
		line += " " + spinner
	}
	for _, f := range facts {
		line += "  " + f.paint(th)
	}
	return r.Slice(line, 0, w)
}

// fact is a Span that is known to be clean.
type fact Span

func (f fact) paint(th theme.Theme) string { return th.Paint(f.Role, f.Text) }

func factsWidth(r text.Ruler, facts []fact) int {
	n := 0
	for _, f := range facts {
		n += 2 + r.Width(f.Text)
	}
	return n
}

// facts are the figures, the most important first.
func (p *Progress) facts(now time.Time) []fact {
	count := humanize.Comma(p.done)
	if p.total > 0 {
		count += " of " + humanize.Comma(p.total)
	}
	if p.unit != "" {
		count += " " + oneLine(p.unit)
	}
	out := []fact{{Text: count}}
	if p.wait != "" {
		return []fact{{"waiting for " + oneLine(p.wait), theme.Held}, out[0]}
	}
	if still := now.Sub(p.moved); still >= stallAfter {
		return []fact{{"nothing moved for " + Duration(still), theme.Warning}, out[0]}
	}
	if left, ok := p.Left(now); ok {
		out = append(out, fact{Text: Duration(left) + " left"})
	}
	if rate := p.Rate(now); rate > 0 {
		out = append(out, fact{rateText(rate), theme.Faint})
	}
	return append(out, fact{Duration(now.Sub(p.started)), theme.Faint})
}

func rateText(rate float64) string {
	if rate < 10 {
		return strings.TrimSuffix(strconv.FormatFloat(rate, 'f', 1, 64), ".0") + "/s"
	}
	return humanize.Comma(int64(rate+0.5)) + "/s"
}

// Duration is a time span for people: "12 s", "4 min", "1 h 5 min", "30 h", "3 d".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 10*time.Hour:
		if m := int(d.Minutes()) % 60; m > 0 {
			return fmt.Sprintf("%d h %d min", int(d.Hours()), m)
		}
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours())/24)
}
