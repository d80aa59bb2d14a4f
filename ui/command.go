package ui

import (
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"
)

// Command is something a person can do. One record feeds the keys, the footer,
// the help screen, the palette and the read-only mode.
type Command struct {
	ID    string // unique, "palace.repair"
	Title string // a sentence without a full stop: "Rebuild the search index"
	// Short is the word beside the key in the footer: "fix". Without it the
	// command is not in the footer.
	Short string
	// Keys that run it, by their Bubble Tea names. The first is shown.
	Keys  []string
	Group string // heading in the help screen
	// Dangerous commands have capital letters for keys, and disappear in
	// read-only mode.
	Dangerous bool
	// Hidden commands are in the help screen only: moving about.
	Hidden bool
	// Pinned commands stand at the right end of the footer, at every size.
	Pinned bool
	// Disabled says why the command cannot run now; "" or nil: it can.
	Disabled func() string
	Run      func() tea.Cmd
}

// reason is why the command cannot run now, "" if it can.
func (c *Command) reason() string {
	if c.Disabled == nil {
		return ""
	}
	return c.Disabled()
}

// key is the name of the key to show.
func (c *Command) key() string {
	if len(c.Keys) == 0 {
		return ""
	}
	return canonicalKey(c.Keys[0])
}

// ConflictError says that two commands want the same key or ID.
type ConflictError struct {
	Key           string // the key; "" if the IDs are the same
	First, Second string // command IDs
}

// Error names the two commands and what they quarrel about.
func (e *ConflictError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("two commands are called %s: give one another ID", e.First)
	}
	return fmt.Sprintf("key %q runs both %s and %s: give one another key", e.Key, e.First, e.Second)
}

// Registry is the commands of one screen, with those that work everywhere.
type Registry struct {
	commands []Command
	byKey    map[string]int
	byID     map[string]int
	readOnly bool
}

// NewRegistry puts commands together in the order in which footer, help and
// palette show them. The error names every conflict and every command that breaks
// a rule; it is a mistake in the program, for a test to find.
func NewRegistry(commands ...Command) (*Registry, error) {
	r := &Registry{commands: commands, byKey: map[string]int{}, byID: map[string]int{}}
	var errs []error
	for i, c := range commands {
		if c.ID == "" || c.Title == "" || c.Run == nil {
			errs = append(errs, fmt.Errorf("command %d (%q, %q) lacks an ID, a title or what to run", i, c.ID, c.Title))
			continue
		}
		if j, taken := r.byID[c.ID]; taken {
			errs = append(errs, &ConflictError{First: commands[j].ID, Second: c.ID})
		}
		r.byID[c.ID] = i
		for _, k := range c.Keys {
			k = canonicalKey(k)
			if !isKey(k) {
				errs = append(errs, fmt.Errorf("command %s wants %q, which is no key", c.ID, k))
			}
			if c.Dangerous && !isDangerKey(k) {
				errs = append(errs, fmt.Errorf("command %s is dangerous and wants %q: use a capital letter other than S, G, N", c.ID, k))
			}
			if j, taken := r.byKey[k]; taken {
				errs = append(errs, &ConflictError{Key: k, First: commands[j].ID, Second: c.ID})
				continue
			}
			r.byKey[k] = i
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return r, nil
}

// SetReadOnly hides dangerous commands and stops their keys.
func (r *Registry) SetReadOnly(on bool) { r.readOnly = on }

// Commands are those that exist in this mode, in order.
func (r *Registry) Commands() []Command {
	var out []Command
	for _, c := range r.commands {
		if !r.readOnly || !c.Dangerous {
			out = append(out, c)
		}
	}
	return out
}

// Outcome is what came of a key or a choice.
type Outcome struct {
	// ID of the command, "" if the key has none.
	ID string
	// Reason is why it did not run, to be told to the person.
	Reason string
	// Cmd is what it returned.
	Cmd tea.Cmd
}

// Key runs the command of a key. A paste is never a key.
func (r *Registry) Key(msg tea.KeyMsg) Outcome {
	i, ok := r.byKey[keyName(msg)]
	if !ok {
		return Outcome{}
	}
	return r.run(&r.commands[i])
}

// Run runs the command of that ID.
func (r *Registry) Run(id string) Outcome {
	i, ok := r.byID[id]
	if !ok {
		return Outcome{}
	}
	return r.run(&r.commands[i])
}

func (r *Registry) run(c *Command) Outcome {
	if r.readOnly && c.Dangerous {
		return Outcome{ID: c.ID, Reason: c.Title + ": not in read-only mode"}
	}
	if why := c.reason(); why != "" {
		return Outcome{ID: c.ID, Reason: c.Title + ": " + why}
	}
	return Outcome{ID: c.ID, Cmd: c.Run()}
}
