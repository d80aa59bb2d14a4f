package health

import (
	"fmt"
	"strings"
	"time"

	"castellan/locks"
)

// idleAfter is how long a holder must not have moved before it is called idle:
// a busy one pauses for seconds between files.
const idleAfter = 10 * time.Minute

// lockFindings says who holds the palace, who else has it open, and what about
// them will hurt somebody. Nothing here is a fault of the palace's files.
func lockFindings(v locks.PalaceView, palace string) []Finding {
	var out []Finding
	out = append(out, holderFindings(v.Lock, palace)...)
	for _, other := range v.Others {
		if other.State == locks.Held {
			out = append(out, Finding{
				Code: LockKeyDiffers, Severity: Warning, Subject: palace,
				Cause:    "the palace is also locked under another spelling of its path, so two writers may each believe they are alone",
				Evidence: map[string]any{"lock": other.Path, "key": other.Key, "pid": pidOf(other.Holder)},
				Remedy:   &Remedy{Reason: "start every program with the same path: " + palace},
			})
		}
	}
	return append(out, openerFindings(v, palace)...)
}

func holderFindings(l locks.PalaceLock, palace string) []Finding {
	if l.State != locks.Held {
		if last := l.LastHolder; l.State == locks.Free && last != nil && last.PID != 0 && !last.Alive {
			return []Finding{{
				Code: LockLastHolderDead, Severity: Info, Subject: palace,
				Cause:    fmt.Sprintf("the lock is free; it was last used by PID %d, which has exited", last.PID),
				Evidence: map[string]any{"pid": last.PID, "command": last.Text, "lock": l.Path},
			}}
		}
		return nil
	}
	h := l.Holder
	evidence := map[string]any{"lock": l.Path, "pid": pidOf(h)}
	who := "a process that cannot be seen from here"
	if h != nil {
		if h.PID != 0 {
			who = fmt.Sprintf("PID %d", h.PID)
		}
		if h.Command != "" {
			who += " (" + h.Command + ")"
			evidence["command"] = h.Command
		}
		evidence["identity"] = string(h.Identity)
		if !h.Since.IsZero() {
			evidence["since"] = h.Since.UTC().Format(time.RFC3339)
		}
	}
	out := []Finding{{
		Code: LockHeld, Severity: Info, Subject: palace,
		Cause:    "held by " + who + "; other writers are refused until it lets go",
		Evidence: evidence,
		Remedy:   &Remedy{Action: "wait for it, or castellan close", Reason: "a lock is never stolen: its holder may be in the middle of a write"},
	}}
	if l.Unlinked {
		out = append(out, Finding{
			Code: SeveralWriters, Severity: Danger, Subject: palace,
			Cause:    "the lock file was removed while it is held: the next writer locks a new file and does not see this one",
			Evidence: evidence,
			Remedy:   &Remedy{Action: "stop that process before anything else writes", Reason: "the file cannot be put back for a process that has it open"},
		})
	}
	if h == nil {
		return out
	}
	return append(out, behaviour(h, palace)...)
}

// behaviour names the two states of a holder that starve everyone else: idle,
// and unable to run at all.
func behaviour(h *locks.Holder, palace string) []Finding {
	var out []Finding
	if h.State == "D" || h.State == "T" || h.State == "Z" {
		words := map[string]string{"D": "waits for a device that does not answer", "T": "is suspended", "Z": "has ended, but its parent has not noticed"}
		out = append(out, Finding{
			Code: HolderStuck, Severity: Warning, Subject: palace,
			Cause:    fmt.Sprintf("the holder, PID %d, %s and keeps the lock", h.PID, words[h.State]),
			Evidence: map[string]any{"pid": h.PID, "state": h.State},
			Remedy:   &Remedy{Action: "castellan close", Reason: "it cannot let go by itself in this state"},
		})
	} else if h.IdleSeconds != nil && *h.IdleSeconds >= idleAfter.Seconds() {
		idle := time.Duration(*h.IdleSeconds * float64(time.Second))
		out = append(out, Finding{
			Code: HolderIdle, Severity: Warning, Subject: palace,
			Cause:    fmt.Sprintf("the holder, PID %d (%s), has done nothing for %s and still keeps everybody else from writing", h.PID, h.Role, span(idle)),
			Evidence: map[string]any{"pid": h.PID, "role": string(h.Role), "idle_seconds": int64(idle.Seconds())},
			Remedy:   &Remedy{Action: "castellan close", Reason: "an MCP server keeps the lock from its first write until it exits"},
		})
	}
	if h.Orphan {
		out = append(out, Finding{
			Code: HolderOrphan, Severity: Warning, Subject: palace,
			Cause:    fmt.Sprintf("the program that started the holder, PID %d, has exited; nobody is left to stop it", h.PID),
			Evidence: map[string]any{"pid": h.PID, "parents": parentNames(h.Parents)},
			Remedy:   &Remedy{Action: "castellan close", Reason: "left alone it keeps the lock until it is done or killed"},
		})
	}
	return out
}

func openerFindings(v locks.PalaceView, palace string) []Finding {
	var out []Finding
	var writers, pids []int
	var rss int64
	for _, o := range v.Openers {
		pids = append(pids, o.PID)
		rss += o.RSS
		if o.Writer || writesPalace(o) {
			writers = append(writers, o.PID)
		}
		if o.Role == locks.RoleChroma {
			out = append(out, Finding{
				Code: ServerOwnsDirectory, Severity: Warning, Subject: palace,
				Cause:    fmt.Sprintf("a Chroma server, PID %d, owns this directory", o.PID),
				Evidence: map[string]any{"pid": o.PID, "command": o.Command},
				Remedy:   &Remedy{Reason: "write through the server; nothing else may open these files for writing while it runs"},
			})
		}
		out = append(out, movedFindings(o, palace)...)
	}
	if len(writers) > 1 {
		out = append(out, Finding{
			Code: SeveralWriters, Severity: Warning, Subject: palace,
			Cause:    fmt.Sprintf("%d processes have this palace open for writing; Chroma keeps its index in memory, so each overwrites what the others flushed", len(writers)),
			Evidence: map[string]any{"pids": writers, "open_in": pids, "resident_bytes": rss},
			Remedy:   &Remedy{Action: "stop all but one", Reason: "embedded Chroma is not safe for several writers"},
		})
	}
	return out
}

// writesPalace tells a process that can change the database or the index from
// one that merely reads.
func writesPalace(o locks.Opener) bool {
	for _, f := range o.Files {
		if f.Writable && !f.Deleted && !f.Moved {
			return true
		}
	}
	return false
}

// movedFindings names a process that works on files which are no longer the
// palace: what it writes is lost, and SQLite answers it 1032.
func movedFindings(o locks.Opener, palace string) []Finding {
	var deleted, moved []string
	for _, f := range o.Files {
		switch {
		case f.Deleted:
			deleted = append(deleted, f.Path)
		case f.Moved:
			moved = append(moved, f.Path)
		}
	}
	var out []Finding
	add := func(code Code, files []string, word string) {
		if len(files) == 0 {
			return
		}
		out = append(out, Finding{
			Code: code, Severity: Warning, Subject: palace,
			Cause:    fmt.Sprintf("PID %d still has the previous database open (%s since); its writes fail or are lost", o.PID, word),
			Evidence: map[string]any{"pid": o.PID, "command": o.Command, "files": files},
			Remedy:   &Remedy{Action: fmt.Sprintf("restart PID %d", o.PID), Reason: "SQLite keeps working on the file it opened, not on the path"},
		})
	}
	add(DatabaseMovedWhileOpen, deleted, "deleted")
	add(PalaceMovedWhileOpen, moved, "replaced")
	return out
}

func pidOf(h *locks.Holder) any {
	if h == nil || h.PID == 0 {
		return nil
	}
	return h.PID
}

func parentNames(list []locks.Ancestor) []string {
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = strings.TrimSpace(fmt.Sprintf("%s (PID %d)", a.Name, a.PID))
	}
	return names
}
