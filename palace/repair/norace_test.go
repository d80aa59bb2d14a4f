//go:build !race

package repair

const (
	underRace = false
	stride    = 1
)
