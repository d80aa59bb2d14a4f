package action

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// StateDir is the directory in which Castellan keeps what outlives it without
// being configuration: castellan beneath $XDG_STATE_HOME where that is set, else
// beneath ~/.local/state on Linux, ~/Library/Application Support on macOS and
// %LocalAppData% on Windows. It need not exist.
func StateDir() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	dir := stateDir(runtime.GOOS, home, os.Getenv)
	if dir == "" {
		return "", errors.Join(errors.New("there is no place for Castellan's state: set XDG_STATE_HOME to an absolute path"), err)
	}
	return dir, nil
}

// stateDir decides; "" = nowhere. Paths that are not absolute are passed over,
// as the XDG base directory specification demands: they would scatter state
// over the directories somebody happens to work in.
func stateDir(goos, home string, getenv func(string) string) string {
	type place struct {
		base string
		rest []string
	}
	places := []place{{getenv("XDG_STATE_HOME"), []string{"castellan"}}}
	switch goos {
	case "windows":
		// The cache lies in %LocalAppData% too.
		places = append(places, place{getenv("LocalAppData"), []string{"castellan", "state"}})
	case "darwin", "ios":
		places = append(places, place{home, []string{"Library", "Application Support", "castellan", "state"}})
	default:
		places = append(places, place{home, []string{".local", "state", "castellan"}})
	}
	for _, p := range places {
		if filepath.IsAbs(p.base) {
			return filepath.Join(append([]string{p.base}, p.rest...)...)
		}
	}
	return ""
}
