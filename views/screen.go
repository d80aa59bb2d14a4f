package views

import (
	tea "github.com/charmbracelet/bubbletea"

	"castellan/ui"
)

// screen is one screen of the stack. Its methods run in Update and must not
// read anything: what needs reading is a load that they return.
type screen interface {
	// crumb is its element of the breadcrumb; badge stands at the right of the
	// title.
	crumb() string
	badge() ui.Line
	// palace is the one it is about, nil if it is about all.
	palace() *reading

	// wants is what it would like to show where there is that much room.
	wants(ui.Class) ui.Wants
	// resize says how the screen was divided; it comes before the first draw
	// and whenever that may have changed.
	resize(ui.Frame)
	// draw draws all parts but title and help.
	draw(ui.Frame) ui.Parts

	// keys are its commands, those that work everywhere included.
	keys() *ui.Registry
	// input is the input that takes keys as text now, nil if none does, and
	// typed is called for what a key did to it.
	input() *ui.Input
	typed(ui.InputEvent) tea.Cmd
	// retreat ends the innermost thing that esc ends, and tells whether there
	// was one.
	retreat() (tea.Cmd, bool)

	// start is its first load, reload the same for a refresh by hand.
	start() tea.Cmd
	reload() tea.Cmd
	// update takes the answer to a load; sync takes over what changed in the
	// house.
	update(tea.Msg) tea.Cmd
	sync() tea.Cmd
	// copies are what the copy menu offers.
	copies() []copyable
	// close ends what is under way.
	close()
}
