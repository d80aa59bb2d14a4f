package views

import (
	"testing"

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
	for _, sc := range scenes {
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
