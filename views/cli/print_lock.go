package cli

import (
	"fmt"
	"strings"
	"time"

	"castellan/palace/health"
)

// What people are shown of long lists; the JSON has all.
const (
	parentsShown = 3
	openersShown = 10
	filesShown   = 3
)

// printLock prints the palace lock in a sentence.
func (a *app) printLock(l health.Lock) {
	a.paragraph("Lock     ", "         ", a.lockWords(l))
}

func (a *app) lockWords(l health.Lock) string {
	switch l.State {
	case "held":
		return "held by " + a.holderWords(l.Holder) + "."
	case "free":
		return "free." + lastHolderWords(l.LastHolder)
	case "no_directory":
		return "free: MemPalace has made no folder for locks yet."
	}
	return "not known: this system does not tell who holds it from here." + lastHolderWords(l.LastHolder)
}

// holderWords describes a holder: who, since when, doing what, for whom.
func (a *app) holderWords(h *health.Holder) string {
	if h == nil || h.Identity == "unknown" {
		return "a process that cannot be seen from here"
	}
	who := "a process"
	if h.PID != nil {
		who = fmt.Sprintf("PID %d", *h.PID)
	}
	if h.Command != nil && *h.Command != "" {
		who += " " + clean(*h.Command)
	}
	var parts []string
	if h.Role != nil && *h.Role != "" {
		parts = append(parts, clean(*h.Role))
	}
	if age := since(h.Started, a.now()); age != "" {
		parts = append(parts, "running for "+age)
	}
	if h.IdleSeconds != nil && *h.IdleSeconds >= 60 {
		parts = append(parts, "idle for "+duration(time.Duration(*h.IdleSeconds*float64(time.Second))))
	}
	if h.CPUPercent != nil {
		parts = append(parts, fmt.Sprintf("%.0f%% CPU", *h.CPUPercent))
	}
	if len(h.Parents) > 0 {
		parts = append(parts, "started by "+clean(strings.Join(h.Parents[:min(len(h.Parents), parentsShown)], " ← ")))
	}
	if h.Orphan != nil && *h.Orphan {
		parts = append(parts, "whoever started it is gone")
	}
	if h.Identity == "recorded" {
		parts = append(parts, "as the lock file says; the kernel does not show it from here")
	}
	if len(parts) > 0 {
		who += " (" + strings.Join(parts, ", ") + ")"
	}
	return who
}

func lastHolderWords(l *health.LastHolder) string {
	if l == nil || l.PID == nil {
		return ""
	}
	s := fmt.Sprintf(" Last held by PID %d", *l.PID)
	if l.Command != "" {
		s += " (" + clean(l.Command) + ")"
	}
	switch {
	case l.Alive == nil:
		return s + "."
	case *l.Alive:
		return s + ", which still runs but has let go."
	}
	return s + ", which has exited."
}

// printOpeners prints who has files of a palace open.
func (a *app) printOpeners(list []health.Opener) {
	if len(list) == 0 {
		a.paragraph("Open by  ", "         ", "nobody that can be seen from here.")
		return
	}
	label := "Open by  "
	for i, o := range list {
		if i == openersShown {
			writeLine(a.out, label+"and "+plural(int64(len(list)-i), "more process.", "more processes."))
			return
		}
		a.paragraph(label, "         ", openerWords(o))
		label = "         "
	}
}

func openerWords(o health.Opener) string {
	s := fmt.Sprintf("PID %d %s", o.PID, clean(o.Command))
	if n := len(o.Files); n > 0 {
		shown := o.Files[:min(n, filesShown)]
		s += ": " + clean(strings.Join(shown, ", "))
		if n > filesShown {
			s += fmt.Sprintf(" and %s", plural(int64(n-filesShown), "more file", "more files"))
		}
	}
	if o.Note != "" {
		s += " – " + clean(o.Note)
	}
	return s
}
