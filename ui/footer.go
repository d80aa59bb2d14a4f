package ui

import (
	"strings"

	"castellan/theme"
)

// hint is a key and the word beside it.
type hint struct{ key, word string }

const hintGap = 3

// Footer is one line of w cells with the keys that fit: pinned ones at the right,
// the first before the later, then the screen's own at the left. Commands that
// cannot run now are left out; help and palette say why.
func (r *Registry) Footer(th theme.Theme, w int) string {
	var left, right []hint
	for _, c := range r.Commands() {
		switch {
		case c.Short == "" || c.Hidden || len(c.Keys) == 0 || c.reason() != "":
		case c.Pinned:
			right = append(right, hint{c.key(), c.Short})
		default:
			left = append(left, hint{c.key(), c.Short})
		}
	}
	return footer(th, left, right, w)
}

// footer lays hints out: a cell of margin on either side, as many as fit.
func footer(th theme.Theme, left, right []hint, w int) string {
	if w <= 2 {
		return strings.Repeat(" ", max(w, 0))
	}
	room := w - 2
	rightLine, n := hints(th, right, room)
	if n > 0 {
		room -= n + hintGap
	}
	leftLine, m := hints(th, left, room)
	return " " + leftLine + strings.Repeat(" ", w-2-n-m) + rightLine + " "
}

// hints paints as many hints as fit into w cells, and says how many it took.
func hints(th theme.Theme, hs []hint, w int) (string, int) {
	r := Ruler(th)
	var b strings.Builder
	used := 0
	for _, h := range hs {
		gap := 0
		if used > 0 {
			gap = hintGap
		}
		n := r.Width(h.key) + 1 + r.Width(h.word)
		if used+gap+n > w {
			break
		}
		b.WriteString(strings.Repeat(" ", gap))
		b.WriteString(th.Paint(theme.Key, h.key) + " " + h.word)
		used += gap + n
	}
	return b.String(), used
}

// Help is the text of the help screen: every command by group, with all its keys
// and, if it cannot run now, the reason. Commands without a group come last.
func (r *Registry) Help() []Field {
	var groups []string
	members := map[string][]Command{}
	for _, c := range r.Commands() {
		if _, seen := members[c.Group]; !seen {
			groups = append(groups, c.Group)
		}
		members[c.Group] = append(members[c.Group], c)
	}
	if other, ok := members[""]; ok {
		delete(members, "")
		members["Other"] = append(members["Other"], other...)
		groups = append(groups, "Other")
	}
	var out []Field
	done := map[string]bool{"": true}
	for _, g := range groups {
		if done[g] {
			continue
		}
		done[g] = true
		if len(out) > 0 {
			out = append(out, Blank())
		}
		out = append(out, Field{Text: In(theme.Title, g)})
		for _, c := range members[g] {
			out = append(out, helpField(c))
		}
	}
	return out
}

func helpField(c Command) Field {
	keys := make([]string, len(c.Keys))
	for i, k := range c.Keys {
		keys[i] = canonicalKey(k)
	}
	f := Field{Label: strings.Join(keys, " "), Text: Plain(c.Title)}
	if f.Label == "" {
		f.Label = ":" // by name only
	}
	if why := c.reason(); why != "" {
		f.Text = Line{{c.Title, theme.Disabled}, {" (not now: " + why + ")", theme.Faint}}
	}
	return f
}
