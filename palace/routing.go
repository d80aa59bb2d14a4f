package palace

import "fmt"

// RoutingError says that MemPalace's configuration keeps programs from writing
// to palaces directly: its write routing is "require", so that writes go
// through MemPalace's daemon or not at all; or it is a word nobody knows, which
// must not be taken for permission.
type RoutingError struct {
	// Path is the palace.
	Path string
	// Source is the environment variable or the file that says so.
	Source string
	// Routing is "require", or empty for a word that is not known.
	Routing string
}

func (e *RoutingError) Error() string {
	if e.Routing == "" {
		return fmt.Sprintf("%s is not written to: the write routing in %s is none of direct, prefer and require; correct it first", e.Path, e.Source)
	}
	return fmt.Sprintf("%s is not written to: the write routing in %s is %q, so only MemPalace's daemon may write; use mempalace, or set it to direct or prefer", e.Path, e.Source, e.Routing)
}

// AllowsWrites answers a *RoutingError where MemPalace's configuration, as it
// is now, forbids to write to the palace at path directly. Every write asks by
// itself; plans ask to refuse before they promise anything.
func (m *Manager) AllowsWrites(path string) error {
	c := m.Config()
	if c.CLIRouting == "direct" || c.CLIRouting == "prefer" {
		return nil
	}
	e := &RoutingError{Path: path, Source: c.File, Routing: c.CLIRouting}
	for _, name := range []string{"MEMPALACE_CLI_WRITE_ROUTING", "MEMPALACE_WRITE_ROUTING"} {
		if m.around.env(name) != "" {
			e.Source = name
			break
		}
	}
	return e
}
