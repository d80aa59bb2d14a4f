package views

import (
	"context"
	"errors"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/theme"
	"castellan/ui/uitest"
)

// scene is a state of a screen, reached by keys.
type scene struct {
	name string
	keys string
	then func(*driver)
}

// play draws scenes of one site at every size, with and without colour.
func play(t *testing.T, core Core, scenes []scene, change ...func(*Options)) {
	t.Helper()
	for i, sc := range scenes {
		if testing.Short() && i%4 != 0 {
			continue // as under the race detector, for which a frame more is nothing new
		}
		t.Run(sc.name, func(t *testing.T) {
			uitest.Frames(t, sc.name, func(th theme.Theme, w, h int) string {
				d := newDriver(t, core, th, w, h, change...)
				d.keys(sc.keys)
				if sc.then != nil {
					sc.then(d)
				}
				return d.frame()
			})
		})
	}
}

func TestFramesOfSickPalaces(t *testing.T) {
	t.Parallel()
	site := newSite(t, "quarantine-holds-more", "not-a-database", "seq-id-poisoned-queued", "drawers-without-wing",
		"capacity-frozen", "directory-empty", "directory-missing", "closets-sick", "database-emptied")
	open := func(name, keys string) func(*driver) {
		return func(d *driver) {
			if !d.app.stack[0].(*palaces).table.Select(fakeHome + "/palaces/" + name) {
				d.t.Fatalf("no palace %s", name)
			}
			d.keys(keys)
		}
	}
	play(t, site, []scene{
		{name: "sick-palaces"},
		{name: "sick-palaces-unreadable", then: open("not-a-database", "k j")},
		{name: "sick-palaces-pane", then: open("capacity-frozen", "k j z")},
		{name: "sick-overview", then: open("quarantine-holds-more", "enter")},
		{name: "sick-overview-unreadable", then: open("database-emptied", "enter")},
		{name: "sick-overview-missing", then: open("directory-missing", "enter")},
		{name: "sick-overview-closets", then: open("closets-sick", "enter j")},
		{name: "sick-findings", then: open("quarantine-holds-more", "f")},
		{name: "sick-finding", then: open("capacity-frozen", "f z")},
		{name: "sick-findings-unreadable", then: open("not-a-database", "f enter")},
		{name: "sick-none-recorded", then: open("drawers-without-wing", "enter tab G enter")},
	})
}

func TestFramesOfHealthyPalaces(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy", "synced", "fresh", "exact", "empty")
	filter := func(s string) func(*driver) { return func(d *driver) { d.typing(s) } }
	play(t, site, []scene{
		{name: "palaces"},
		{name: "palaces-wide", keys: "w j"},
		{name: "palaces-filter", keys: "/", then: filter("sy")},
		{name: "palaces-filter-nothing", keys: "/", then: filter("zzz")},
		{name: "overview", keys: "enter"},
		{name: "overview-wings", keys: "enter tab j"},
		{name: "overview-synced", keys: "G enter"},
		{name: "overview-uninitialised", keys: "j enter"},
		{name: "rooms", keys: "enter tab enter"},
		{name: "drawers", keys: "d"},
		{name: "drawers-oldest-first", keys: "d S j"},
		{name: "drawers-read", keys: "d j enter"},
		{name: "drawers-room", keys: "enter tab enter enter"},
		{name: "drawers-marked", keys: "d space space w"},
		{name: "drawers-filter", keys: "d /", then: filter("mutex")},
		{name: "drawers-filter-nothing", keys: "d /", then: filter("no such thing")},
		{name: "drawers-exact", keys: "j j d"},
		{name: "findings", keys: "f"},
		{name: "findings-full", keys: "f d"},
		{name: "finding-read", keys: "f enter"},
		{name: "holders", keys: "p"},
		{name: "tasks", keys: "t"},
		{name: "help", keys: "?"},
		{name: "help-drawers", keys: "d ?"},
		{name: "commands", keys: ":"},
		{name: "copy", keys: "d y"},
		{name: "open-other", keys: "o"},
		{name: "messages", then: func(d *driver) { d.app.openMessages() }},
	})
}

func TestFramesOfHeldPalaces(t *testing.T) {
	t.Parallel()
	s := newStage(newSite(t, "healthy", "synced", "fresh"))
	home := fakeHome + "/palaces/"
	s.holder[home+"healthy"] = busyMine()
	s.waits[home+"healthy"] = []locks.Process{{PID: 4188, Command: "mempalace-mcp"}}
	s.holder[home+"synced"] = idleServer()
	s.other[home+"fresh"] = []locks.Opener{{
		Process: locks.Process{PID: 4203, Command: "python old_script.py", Started: noon.Add(-time.Hour)},
		Files:   []locks.OpenFile{{Path: home + "fresh/chroma.sqlite3", Deleted: true, Writable: true}},
		Note:    "still has the deleted chroma.sqlite3 open: its writes fail or are lost; restart it",
	}}
	play(t, s, []scene{
		{name: "held-palaces"},
		{name: "held-palaces-read-only"},
		{name: "held-overview", keys: "enter"},
		{name: "held-findings", keys: "f enter"},
		{name: "held-holders", keys: "p"},
		{name: "held-holders-idle", keys: "p j z"},
		{name: "held-holders-lost", keys: "p G enter"},
	}, func(o *Options) { o.ReadOnly = true })
}

func TestFramesWhileThereIsNoAnswer(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy", "fresh")
	empty := newStage(openSite(t, t.TempDir()))
	empty.failed = errors.New("open /home/u/.mempalace: input/output error")
	play(t, empty, []scene{{name: "none-failed"}, {name: "none-failed-holders", keys: "p"}})
	play(t, none{openSite(t, t.TempDir())}, []scene{{name: "none"}})

	hung := newStage(site)
	hung.hang(fakeHome + "/palaces/healthy")
	late := func(d *driver) { d.wait(12 * time.Second) }
	for _, sc := range []scene{
		{name: "hung-palaces", then: late},
		{name: "hung-overview", keys: "enter", then: late},
		{name: "hung-findings", keys: "f", then: late},
		{name: "hung-other", keys: "j enter d", then: late},
		{name: "first-moment"},
		{name: "first-spinner", then: func(d *driver) { d.now = d.now.Add(200 * time.Millisecond) }},
	} {
		t.Run(sc.name, func(t *testing.T) {
			uitest.Frames(t, sc.name, func(th theme.Theme, w, h int) string {
				d := newDriver(t, hung, th, w, h)
				d.keys(sc.keys)
				if sc.then != nil {
					sc.then(d)
				}
				return d.frame()
			})
		})
	}
}

// none finds no palaces at all.
type none struct{ Core }

func (none) Discover(context.Context) (palace.Discovery, error) { return palace.Discovery{}, nil }
