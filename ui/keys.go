package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// SplitKeys takes apart what Bubble Tea v1 joins: runes that arrive in one read,
// as when a person types fast, come as one message "jr". The root model splits
// every key message with it before dispatching, unless an input has the focus,
// which takes text of any length. A paste stays whole: it is no command, ever.
func SplitKeys(msg tea.KeyMsg) []tea.KeyMsg {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 || msg.Paste {
		return []tea.KeyMsg{msg}
	}
	keys := make([]tea.KeyMsg, len(msg.Runes))
	for i, r := range msg.Runes {
		keys[i] = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
		if r == ' ' {
			keys[i].Type = tea.KeySpace
		}
	}
	keys[0].Alt = msg.Alt
	return keys
}

// Through tells the keys that work wherever one is, in dialogs and inputs too:
// ctrl+c, ctrl+z and ctrl+l. The root model looks for them before anything else.
func Through(msg tea.KeyMsg) bool {
	switch msg.Type {
	case tea.KeyCtrlC, tea.KeyCtrlZ, tea.KeyCtrlL:
		return true
	}
	return false
}

// eachKey answers joined runes one by one, for dialogs in which that can do no
// harm, until one of them closes the dialog.
func eachKey(msg tea.KeyMsg, answer func(tea.KeyMsg) Action) Action {
	var all Action
	var cmds []tea.Cmd
	for _, k := range SplitKeys(msg) {
		a := answer(k)
		cmds = append(cmds, a.Cmd)
		if all = a; a.Close {
			break
		}
	}
	all.Cmd = tea.Batch(cmds...)
	return all
}

// keyName is the name commands bind a key by, "" for what is no key of a
// command: pastes and joined runes.
func keyName(msg tea.KeyMsg) string {
	if msg.Paste || msg.Type == tea.KeyRunes && len(msg.Runes) != 1 {
		return ""
	}
	return canonicalKey(msg.String())
}

// canonicalKey writes a key's name as Bubble Tea does, except that a blank is
// called space.
func canonicalKey(name string) string {
	switch name {
	case " ":
		return "space"
	case "return":
		return "enter"
	case "escape":
		return "esc"
	}
	return name
}

// isKey tells whether a terminal can send a key of that name.
func isKey(name string) bool {
	if base, ok := strings.CutPrefix(name, "alt+"); ok {
		name = base
	}
	if name == "space" || len([]rune(name)) == 1 {
		return true
	}
	for t := tea.KeyType(-100); t <= 127; t++ {
		if t != tea.KeyRunes && t.String() == name {
			return true
		}
	}
	return false
}

// isDangerKey tells a capital letter, the only keys that dangerous commands may
// have: k9s had people delete things with backspace. Three capitals are harmless
// everywhere: reverse order, end, previous match.
func isDangerKey(name string) bool {
	return len(name) == 1 && name[0] >= 'A' && name[0] <= 'Z' && !slices.Contains([]string{"S", "G", "N"}, name)
}
