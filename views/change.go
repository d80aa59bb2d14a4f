package views

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/action"
	"castellan/palace/change"
	"castellan/palace/queue"
	"castellan/palace/repair"
	"castellan/theme"
	"castellan/ui"
)

// deleting is the job of removing rows of a collection, and the closets that go
// with drawers.
func (a *App) deleting(r *reading, collection string, sel change.Selection) job {
	if c := mainCollection(r.report, a.house.main); c == nil || c.Name != collection {
		sel.Collection = collection // no drawers: nothing goes with them
	}
	found := r.found
	return job{title: "delete", verb: "Delete", about: r,
		make: func(ctx context.Context) (action.Action, error) { return a.opts.Core.Deleting(ctx, found, sel) },
		park: func(ctx context.Context, act action.Action) (int, error) {
			d, ok := act.(*change.Delete)
			if !ok {
				return 0, errors.ErrUnsupported
			}
			list, err := d.Park(ctx)
			return len(list), err
		},
		offers: []offer{a.undoOffer(r)}}
}

// undoing is the job of putting back what the last change replaced.
func (a *App) undoing(r *reading) job {
	found := r.found
	return job{title: "undo", verb: "Put back", about: r,
		make: func(ctx context.Context) (action.Action, error) { return a.opts.Core.Undoing(ctx, found) }}
}

// draining is the job of making the writes that wait.
func (a *App) draining(r *reading) job {
	found := r.found
	return job{title: "waiting writes", verb: "Make them", about: r,
		make:   func(ctx context.Context) (action.Action, error) { return a.opts.Core.Draining(ctx, found) },
		offers: []offer{a.undoOffer(r)}}
}

func (a *App) undoOffer(r *reading) offer {
	return offer{
		command: ui.Command{ID: "guide.undo", Title: "Undo: put back what was removed or replaced", Short: "undo", Keys: []string{"u"}, Run: func() tea.Cmd {
			return tea.Batch(a.pop(), a.openGuide(a.undoing(r)))
		}},
		when: func(t *told) bool {
			d, ok := t.result.Detail.(*change.Deleted)
			return ok && d.Undo != nil || undoableRepair(t.result.Detail)
		},
	}
}

// noChange says why nothing of a palace can be changed; "" if it can.
func (a *App) noChange(r *reading) string {
	if why := a.noActOn(r); why != "" {
		return why
	}
	if r.report == nil {
		return "the palace is still being read"
	}
	return ""
}

// deleteCommand removes what is marked, or else under the cursor.
func (s *drawers) deleteCommand() ui.Command {
	return ui.Command{ID: "drawers.delete", Title: "Delete the marked drawers, or the one under the cursor", Short: "delete", Keys: []string{"D"}, Group: groupActs, Dangerous: true,
		Disabled: func() string {
			if why := s.app.noChange(s.r); why != "" {
				return why
			}
			return s.none()
		},
		Run: func() tea.Cmd {
			return s.app.openGuide(s.app.deleting(s.r, s.collection, change.Selection{IDs: s.table.Targets()}))
		}}
}

// deleteCommands remove a room, or the wing with all its rooms.
func (s *rooms) deleteCommands() []ui.Command {
	unnamed := func(name *string, what string) string {
		if why := s.app.noChange(s.r); why != "" {
			return why
		}
		if name == nil {
			return "drawers without a " + what + " are deleted one by one, in their list"
		}
		return ""
	}
	room := func() *string { return s.names[s.table.ID()] }
	return []ui.Command{
		{ID: "room.delete", Title: "Delete the room under the cursor", Short: "delete room", Keys: []string{"D"}, Group: groupActs, Dangerous: true,
			Disabled: func() string {
				if s.none() != "" {
					return s.none()
				}
				if why := unnamed(s.wing.wing, "wing"); why != "" {
					return why
				}
				return unnamed(room(), "room")
			},
			Run: func() tea.Cmd {
				return s.app.openGuide(s.app.deleting(s.r, s.collection, change.Selection{Wing: s.wing.wing, Room: room()}))
			}},
		{ID: "wing.delete", Title: "Delete the whole wing; its name has to be typed", Keys: []string{"X"}, Group: groupActs, Dangerous: true,
			Disabled: func() string { return unnamed(s.wing.wing, "wing") },
			Run: func() tea.Cmd {
				return s.app.openGuide(s.app.deleting(s.r, s.collection, change.Selection{Wing: s.wing.wing}))
			}},
	}
}

// changeCommands are those of a palace as a whole.
func (s *overview) changeCommands() []ui.Command {
	why := func() string { return s.app.noChange(s.r) }
	return []ui.Command{
		{ID: "palace.undo", Title: "Undo the last change: put back what it removed or replaced", Keys: []string{"u"}, Group: groupActs, Disabled: why,
			Run: func() tea.Cmd { return s.app.openGuide(s.app.undoing(s.r)) }},
		{ID: "palace.drain", Title: "Make the writes that wait for this palace", Short: "make waiting writes", Keys: []string{"w"}, Group: groupActs,
			Disabled: func() string {
				if w := why(); w != "" {
					return w
				}
				if len(s.parked.list) == 0 {
					return "no write waits for this palace"
				}
				return ""
			},
			Run: func() tea.Cmd { return s.app.openGuide(s.app.draining(s.r)) }},
	}
}

// parked are the writes that wait for a palace.
type parked struct {
	gen  int
	list []queue.Entry
	err  error
}

type parkedMsg struct {
	to   *overview
	gen  int
	list []queue.Entry
	err  error
}

// readParked looks what waits; it is a directory of a few small files.
func (s *overview) readParked() tea.Cmd {
	if !filepath.IsAbs(s.r.path()) {
		return nil // nothing waits for a server
	}
	s.parked.gen++
	gen, core, found := s.parked.gen, s.app.opts.Core, s.r.found
	return s.app.work.do(func(ctx context.Context) tea.Msg {
		list, err := core.Waiting(ctx, found)
		return parkedMsg{s, gen, list, err}
	})
}

// line is what waits, how long, and why it does; "" if nothing does.
func (p *parked) line(now time.Time) string {
	if p.err != nil {
		return "The waiting writes cannot be read: " + p.err.Error()
	}
	if len(p.list) == 0 {
		return ""
	}
	s := plural(int64(len(p.list)), "write waits", "writes wait") + " for this palace"
	if at := p.list[0].QueuedAt; !at.IsZero() {
		s += ", since " + ago(at, now)
	}
	aside := int64(0)
	for _, e := range p.list {
		if e.State == queue.StateSetAside {
			aside++
		}
	}
	if aside > 0 {
		s += ", " + plural(aside, "is", "are") + " set aside"
	}
	for _, e := range p.list {
		if e.LastRefusal != "" {
			return s + "; last refused: " + e.LastRefusal
		}
	}
	return s
}

// parkedFields tell it in the pane.
func (s *overview) parkedFields() []ui.Field {
	line := s.parked.line(s.app.opts.Now())
	if line == "" {
		return nil
	}
	line = " " + sentence(line)
	if s.app.noChange(s.r) == "" {
		line += " w makes what can be made."
	}
	return []ui.Field{{Text: ui.Line{badge(s.app.th, theme.Note), {Text: line}}}}
}

// changedFields tell what a change did, of those that know.
func changedFields(detail any) []ui.Field {
	var f []ui.Field
	say := func(n int, one, many string) {
		if n > 0 {
			f = append(f, ui.Para(plural(int64(n), one, many)))
		}
	}
	counted := func(label string, list []change.Counted) {
		for _, c := range list {
			f = append(f, ui.Field{Label: label, Text: ui.Plain(plural(int64(c.Rows), "row", "rows") + " of " + c.Name)})
		}
	}
	switch d := detail.(type) {
	case *change.Deleted:
		counted("Deleted", d.Collections)
		say(d.AppliedFirst, "waiting write was made first.", "waiting writes were made first.")
		say(d.CannotBePutBack, "of them cannot be put back: only its text and metadata are kept.", "of them cannot be put back: only their text and metadata are kept.")
		f = append(f, lineFields("Not found", d.NotFound)...)
		if d.Undo != nil {
			f = append(f, ui.Field{Label: "Undo", Text: ui.Plain("u puts them back; so does castellan undo. They are kept in " + *d.Undo)})
		}
	case *change.PutBack:
		counted("Put back", d.Collections)
		say(d.AlreadyThere, "row was there already.", "rows were there already.")
		say(d.CannotBePutBack, "cannot be put back; what there is of it stays in the record.", "cannot be put back; what there is of them stays in the record.")
		f = append(f, ui.Field{Label: "Record", Text: ui.Plain(d.Undo)})
	case *repair.Result:
		return repairedFields(d)
	case *repair.PutBack:
		f = append(f, lineFields("Copy", []string{d.Backup})...)
	case *repair.Rebuilt:
		f = append(f, lineFields("New palace", []string{d.Palace})...)
		for _, c := range d.Collections {
			f = append(f, ui.Field{Label: " ", Text: ui.Plain(plural(int64(c.Rows), "row", "rows") + " of " + c.Name)})
		}
	case *change.Drained:
		say(d.Applied, "waiting write was made.", "waiting writes were made.")
		f = append(f, lineFields("Set aside", d.SetAside)...)
		say(d.Left, "still waits.", "still wait.")
	}
	if len(f) > 0 {
		f = append([]ui.Field{ui.Blank()}, f...)
	}
	return f
}
