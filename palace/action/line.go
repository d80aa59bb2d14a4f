package action

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"castellan/locks"
)

// Bounds of what a log keeps of one text, in bytes. JSON can make six of one.
// They hold a header within headBytes and an end within tailBytes of the file,
// which is all that listing the runs reads.
const (
	maxName    = 2 << 10
	maxEnd     = 4 << 10 // summary, error
	maxText    = 64 << 10
	maxFinding = 256 << 10
	maxHeader  = 256 << 10
)

// line is one line of a log, in JSON. Event says which of the fields count.
type line struct {
	At    time.Time `json:"at"`
	Event string    `json:"event"`

	Run    ID     `json:"run,omitempty"`
	Title  string `json:"title,omitempty"`
	Palace string `json:"palace,omitempty"`
	PID    int    `json:"pid,omitempty"`
	Plan   *Plan  `json:"plan,omitempty"`

	State State `json:"state,omitempty"`

	Command  string    `json:"command,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Deadline time.Time `json:"deadline,omitzero"`

	N       int    `json:"n,omitempty"`
	Of      int    `json:"of,omitempty"`
	Name    string `json:"name,omitempty"`
	CanStop bool   `json:"can_stop,omitempty"`

	Done  int64  `json:"done,omitempty"`
	Total int64  `json:"total,omitempty"`
	Unit  string `json:"unit,omitempty"`

	Level Level  `json:"level,omitempty"`
	Text  string `json:"text,omitempty"`

	Finding json.RawMessage `json:"finding,omitempty"`

	Summary string `json:"summary,omitempty"`
	Error   string `json:"error,omitempty"`
}

// header is the first line of a log.
func header(s Snapshot, pid int) line {
	l := line{
		At: s.Started, Event: "started", Run: s.ID, PID: pid, Plan: &s.Plan,
		Title: clip(s.Plan.Title, maxName), Palace: clip(s.Subject.Palace, maxName),
	}
	if b, err := json.Marshal(l); err != nil || len(b) > maxHeader {
		l.Plan = nil
	}
	return l
}

// lineOf writes an event down.
func lineOf(e Event) line {
	l := line{At: e.At}
	switch d := e.Detail.(type) {
	case Changed:
		l.Event, l.State = "state", d.State
	case Waiting:
		l.Event, l.PID, l.Command = "waiting", d.Holder.PID, clip(d.Holder.Command, maxText)
		l.Since, l.Deadline = d.Since, d.Deadline
	case Phase:
		l.Event, l.N, l.Of, l.Name, l.CanStop = "phase", d.N, d.Of, clip(d.Name, maxText), d.CanStop
	case Progress:
		l.Event, l.Done, l.Total, l.Unit = "progress", d.Done, d.Total, clip(d.Unit, maxText)
	case Log:
		l.Event, l.Level, l.Text = "log", d.Level, clip(d.Text, maxText)
	case Finding:
		l.Event, l.Finding = "finding", finding(d.Value)
	case Finished:
		l.Event, l.State, l.Summary = "finished", d.State, clip(d.Result.Summary, maxEnd)
		if d.Err != nil {
			l.Error = clip(d.Err.Error(), maxEnd)
		}
	}
	return l
}

// detail reads back what lineOf wrote; nil when it is nothing of the kind.
func (l line) detail() Detail {
	switch l.Event {
	case "state":
		return Changed{l.State}
	case "waiting":
		h := locks.Holder{Identity: locks.Recorded}
		h.PID, h.Command = l.PID, l.Command
		return Waiting{Holder: h, Since: l.Since, Deadline: l.Deadline}
	case "phase":
		return Phase{N: l.N, Of: l.Of, Name: l.Name, CanStop: l.CanStop}
	case "progress":
		return Progress{Done: l.Done, Total: l.Total, Unit: l.Unit}
	case "log":
		return Log{Level: l.Level, Text: l.Text}
	case "finding":
		return Finding{l.Finding}
	case "finished":
		if l.State.Over() {
			return Finished{State: l.State, Result: Result{Summary: l.Summary}, Err: said(l.Error)}
		}
	}
	return nil
}

// recorded is an error of which only the text is left.
type recorded string

func (e recorded) Error() string { return string(e) }

func said(text string) error {
	if text == "" {
		return nil
	}
	return recorded(text)
}

// finding makes JSON of whatever was found. What cannot be written down must
// not cost the rest of the log, nor the program, whose types these are not.
func finding(value any) (raw json.RawMessage) {
	defer func() {
		if v := recover(); v != nil {
			raw = unwritten(value, "a panic")
		}
	}()
	raw, err := json.Marshal(value)
	switch {
	case err != nil:
		return unwritten(value, "no JSON form")
	case len(raw) > maxFinding:
		return unwritten(value, fmt.Sprintf("%d bytes of JSON", len(raw)))
	}
	return raw
}

func unwritten(value any, why string) json.RawMessage {
	raw, err := json.Marshal(fmt.Sprintf("%T not kept: %s", value, why))
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// clip bounds a text at a whole character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s… (%d more bytes)", strings.Clone(s[:n]), len(s)-n)
}

// appendTo adds the line to what is to be written.
func (l line) appendTo(b *bytes.Buffer) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(l)
}

// parse reads one line of a log.
func parse(b []byte) (line, bool) {
	var l line
	if json.Unmarshal(b, &l) != nil || l.Event == "" || l.At.IsZero() {
		return line{}, false
	}
	return l, true
}
