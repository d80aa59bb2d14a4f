package views

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/backend"
	"castellan/palace/health"
)

// roomCount is how many rooms each wing has, by the wing's key.
type roomCount struct {
	rows  int64 // of the collection when it was counted
	at    time.Time
	took  time.Duration
	asked bool
	by    map[string]int64
	err   error
}

// lastWrites is what the queue still has of a collection's writes.
type lastWrites struct {
	report *health.Report // the figures it was read for
	asked  bool
	list   []Write
	err    error
}

type (
	roomsMsg struct {
		to         *overview
		collection string
		rows       int64
		facets     []backend.Facet
		err        error
	}
	writesMsg struct {
		to         *overview
		collection string
		report     *health.Report
		list       []Write
		err        error
	}
)

// shownWrites is how many of the last writes are read.
const shownWrites = 60

// countRooms counts the rooms of the wings, again only if drawers came or went. In
// a large palace that takes long, and while something is filed drawers come all
// the time: counting rests as long as looking at a palace does.
func (s *overview) countRooms(c *health.Collection) tea.Cmd {
	rows, now := value(c.Rows), s.app.opts.Now()
	k := s.rooms[c.Name]
	switch {
	case rows == 0:
		return nil
	case k == nil:
		k = &roomCount{}
		s.rooms[c.Name] = k
	case k.asked || k.rows == rows || now.Sub(k.at) < min(restFactor*k.took, longestRest):
		return nil
	}
	k.asked, k.at = true, now
	at, name, core := s.r.place(c.Name), c.Name, s.app.opts.Core
	return s.app.work.do(func(ctx context.Context) tea.Msg {
		f, err := core.Facets(ctx, at, backend.Filter{}, "wing", "room")
		return roomsMsg{s, name, rows, f, err}
	})
}

// readWrites reads the last writes, again only if the palace changed.
func (s *overview) readWrites(c *health.Collection) tea.Cmd {
	k := s.writes[c.Name]
	if k != nil && (k.asked || sameFigures(k.report, s.r.report)) {
		return nil
	}
	if k == nil {
		k = &lastWrites{}
		s.writes[c.Name] = k
	}
	k.asked = true
	at, name, report, core := s.r.place(c.Name), c.Name, s.r.report, s.app.opts.Core
	return s.app.work.do(func(ctx context.Context) tea.Msg {
		list, err := core.Writes(ctx, at, shownWrites)
		return writesMsg{s, name, report, list, err}
	})
}

func (s *overview) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case roomsMsg:
		if msg.to != s {
			return nil
		}
		k := s.rooms[msg.collection]
		if k == nil {
			return nil // it is being counted anew
		}
		now := s.app.opts.Now()
		k.asked, k.rows, k.err, k.took, k.at = false, msg.rows, msg.err, now.Sub(k.at), now
		if msg.err == nil {
			k.by = map[string]int64{}
			for _, f := range msg.facets {
				if f.Values[1] == nil {
					continue // drawers without a room are in none
				}
				k.by[facetKey(f.Values[0])]++
			}
		}
		cmd := s.fillWings()
		s.tell()
		return cmd
	case writesMsg:
		if msg.to != s {
			return nil
		}
		s.writes[msg.collection] = &lastWrites{report: msg.report, list: msg.list, err: msg.err}
		s.tell()
	case parkedMsg:
		if msg.to != s || msg.gen != s.parked.gen {
			return nil
		}
		s.parked.list, s.parked.err = msg.list, msg.err
		s.tell()
	case runMsg:
		if msg.end {
			return s.readParked()
		}
	}
	return nil
}

// facetKey is wingKey of a metadata value.
func facetKey(v any) string {
	if v == nil {
		return wingKey(nil)
	}
	name := backend.Text(v)
	return wingKey(&name)
}
