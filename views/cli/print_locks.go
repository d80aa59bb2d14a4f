package cli

import "strconv"

// printLocks prints every lock, who holds it and who has which palace open.
func (a *app) printLocks(d lockDocument) {
	if d.Directory == nil {
		a.paragraph("", "", "MemPalace has made no folder for locks here yet, so nobody has ever taken one.")
	} else {
		writeLine(a.out, a.ink.bold("Palace locks")+"  in "+clean(*d.Directory))
	}
	if d.Directory != nil && len(d.PalaceLocks) == 0 {
		writeLine(a.out, "  none")
	}
	for _, l := range d.PalaceLocks {
		if d.Directory != nil {
			a.printPalaceLock(l)
		}
	}
	a.gap()
	a.printSourceLocks(d.SourceLocks)
	a.gap()
	a.printPalaceOpeners(d)
	if len(d.HookSlots) > 0 {
		a.gap()
		a.printHookSlots(d.HookSlots)
	}
	for _, g := range d.Gaps {
		a.paragraph("Not read: ", "          ", clean(g))
	}
}

func (a *app) printPalaceLock(l palaceLock) {
	name := "a palace that is not known here"
	switch {
	case l.Palace != nil:
		name = clean(*l.Palace)
	case l.Path != nil:
		name = clean(*l.Path) + ", of " + name
	}
	a.paragraph("  "+a.ink.bold(name)+"  ", "    ", a.lockWords(l.Lock))
	if l.State == "unknown" && l.Why != "" {
		a.paragraph("    ", "    ", clean(l.Why))
	}
	if l.Unlinked {
		a.paragraph("    ", "    ", "Its lock file was removed while it is held: a newcomer would lock another file, and two would write.")
	}
	for _, w := range l.Waiters {
		a.paragraph("    ", "      ", "PID "+strconv.Itoa(w.PID)+" "+clean(w.Command)+" waits for it.")
	}
}

func (a *app) printSourceLocks(s sourceLocks) {
	told := plural(int64(s.Total), "per-file lock", "per-file locks") + ", " + plural(int64(len(s.Held)), "held", "held") + "."
	switch {
	case s.Total > 0 && !s.Known:
		told += " More may be held than can be seen from here."
	case s.Total > len(s.Held):
		told += " Files that nobody holds are left over and mean nothing."
	}
	a.paragraph("", "  ", told)
	for _, l := range s.Held {
		a.paragraph("  ", "    ", clean(l.Path)+" is held by "+a.holderWords(l.Holder)+".")
	}
}

func (a *app) printPalaceOpeners(d lockDocument) {
	if len(d.Openers) == 0 {
		writeLine(a.out, "No process is seen with a palace open.")
	} else {
		writeLine(a.out, a.ink.bold("Open palaces"))
	}
	for i, o := range d.Openers {
		if i == openersShown {
			writeLine(a.out, "  and "+plural(int64(len(d.Openers)-i), "more process", "more processes"))
			break
		}
		who := openerWords(o.Opener)
		if o.Writer {
			who += ", holds the lock"
		}
		a.paragraph("  "+a.ink.bold(clean(o.Palace))+"  ", "    ", who)
	}
	if d.Hidden > 0 {
		a.paragraph("  ", "  ", "The open files of "+plural(int64(d.Hidden), "other process", "other processes")+" could not be looked at; run as root to see them.")
	}
}

func (a *app) printHookSlots(list []hookSlot) {
	t := newTable(column{title: "HOOK SLOT", flex: true, path: true}, column{title: "PID", right: true}, column{title: "STATE"}, column{title: "SINCE", right: true}, column{title: "COMMAND"})
	for _, s := range list {
		pid := "–"
		if s.PID != nil {
			pid = strconv.Itoa(*s.PID)
		}
		t.add(clean(s.Path), pid, clean(s.State), age(s.Since, a.now()), clean(s.Command))
	}
	t.write(a.out, a.ink, "", a.width)
}
