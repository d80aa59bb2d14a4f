package uitest

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Key is the message of one key by the name Bubble Tea gives it: "j", "enter",
// "ctrl+c", "space". A name of several letters that is no key is a panic, so that
// a typing error in a test does not pass for a key nobody bound.
func Key(name string) tea.KeyMsg {
	if name == "space" || name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	if r := []rune(name); len(r) == 1 {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: r}
	}
	for t := tea.KeyType(-100); t <= 127; t++ {
		if t != tea.KeyRunes && t != tea.KeySpace && t.String() == name {
			return tea.KeyMsg{Type: t}
		}
	}
	panic("uitest: no key is called " + name)
}

// Type is the messages of typing s, one key each.
func Type(s string) []tea.KeyMsg {
	var out []tea.KeyMsg
	for _, r := range s {
		out = append(out, Key(string(r)))
	}
	return out
}

// Paste is what a terminal with bracketed paste sends for s.
func Paste(s string) tea.KeyMsg {
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s), Paste: true}
}

// Joined is what Bubble Tea v1 sends when several keys arrive in one read.
func Joined(s string) tea.KeyMsg {
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)}
}

// Clock is a clock that stands still until it is moved.
type Clock struct{ now time.Time }

// NewClock starts at a fixed moment.
func NewClock() *Clock {
	return &Clock{time.Date(2026, 11, 30, 16, 12, 0, 0, time.UTC)}
}

// Now is the time on the clock.
func (c *Clock) Now() time.Time { return c.now }

// Advance moves it on.
func (c *Clock) Advance(d time.Duration) { c.now = c.now.Add(d) }
