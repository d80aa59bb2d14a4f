package views

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"castellan/locks"
	"castellan/theme"
	"castellan/ui"
)

// warning is something about the processes of a palace that a person should know
// before it does harm.
type warning struct {
	severity theme.Severity
	text     string
}

// holderWarnings look at all processes of a palace together. A holder that is idle
// or stuck is told by what its lock means.
func holderWarnings(v locks.PalaceView) []warning {
	var out []warning
	add := func(s theme.Severity, format string, args ...any) {
		out = append(out, warning{s, fmt.Sprintf(format, args...)})
	}
	for _, o := range v.Openers {
		if o.Note != "" {
			add(theme.Fail, "PID %d %s", o.PID, o.Note)
		}
	}
	if v.Lock.State == locks.Held && v.Lock.Unlinked {
		add(theme.Fail, "the lock file was removed while it is held: the next writer will not see this holder, and there will be two")
	}
	// Several servers and a mine on one palace are how indexes get lost
	// (MemPalace #1212, #1202).
	if list := writers(v); len(list) > 1 {
		var who []string
		rss := int64(0)
		for _, o := range list {
			who = append(who, fmt.Sprintf("%d %s", o.PID, o.Name))
			rss += o.RSS
		}
		text := fmt.Sprintf("%d processes have it open for writing: %s", len(list), strings.Join(who, ", "))
		if rss > 0 {
			text += "; together " + humanize.Bytes(uint64(rss)) + " of memory"
		}
		add(theme.Warn, "%s", text)
	}
	h := v.Lock.Holder
	if v.Lock.State != locks.Held || h == nil || h.PID == 0 {
		return out
	}
	if h.Orphan {
		add(theme.Warn, "whoever started the holder has exited; nobody is left to stop it")
	}
	if n := len(h.SharedWith); n > 0 {
		add(theme.Note, "%s its lock: the palace stays held until the last of them has ended", plural(int64(n), "other process shares", "other processes share"))
	}
	return out
}

func warningFields(th theme.Theme, list []warning) []ui.Field {
	var f []ui.Field
	for _, w := range list {
		f = append(f, ui.Field{Text: ui.Line{badge(th, w.severity), {Text: " " + sentence(w.text)}}})
	}
	return f
}
