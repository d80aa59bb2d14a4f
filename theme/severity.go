package theme

// Severity grades a finding or a message. Higher is worse.
type Severity uint8

const (
	Good Severity = iota
	Note
	Warn
	Fail
	Peril
)

// Word is the severity in a word, as tables show it. The worst one is in
// capitals, so that it stands out without colour.
func (s Severity) Word() string {
	switch s {
	case Good:
		return "ok"
	case Note:
		return "info"
	case Warn:
		return "warning"
	case Fail:
		return "error"
	}
	return "DANGER"
}

// Role is the role to paint the severity with.
func (s Severity) Role() Role {
	switch s {
	case Good:
		return OK
	case Note:
		return Info
	case Warn:
		return Warning
	case Fail:
		return Error
	}
	return Danger
}

// Mark is the sign before a line of that severity, "✓" or "[ok]", unpainted.
func (t Theme) Mark(s Severity) string {
	switch s {
	case Good:
		return t.Glyphs.OK
	case Note:
		return t.Glyphs.Info
	case Warn:
		return t.Glyphs.Warning
	case Fail:
		return t.Glyphs.Error
	}
	return t.Glyphs.Danger
}

// Badge is the mark and the word, painted: "✗ error", "[!] warning".
func (t Theme) Badge(s Severity) string {
	return t.Paint(s.Role(), t.Mark(s)+" "+s.Word())
}
