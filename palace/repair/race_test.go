//go:build race

package repair

// underRace leaves most palaces and steps out: the race detector makes SQLite
// some ten times as slow, and looks for something else than they do.
const (
	underRace = true
	stride    = 7
)
