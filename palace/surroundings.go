package palace

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"castellan/locks"
	"castellan/palace/backend"
)

// Options say whose palaces are meant. The zero value means the person who
// runs the program; tests and the demo bring their own home.
type Options struct {
	// Home is the home directory; empty asks the environment.
	Home string
	// Env looks up an environment variable; nil asks the process's own.
	Env func(string) string
	// WorkDir is what relative paths are relative to; empty means the current
	// directory.
	WorkDir string
	// Now is the clock; nil means the system's.
	Now func() time.Time

	// LockWait is how long a write waits for a palace that somebody holds; 0 =
	// it is refused at once, as MemPalace does.
	LockWait time.Duration
	// OnLockWait is told who is waited for, about once a second, on the
	// goroutine that waits.
	OnLockWait func(backend.Ref, locks.Holder)
	// Watch sees who else has a palace open; a *locks.Observer that takes no
	// second processor sample does it quickly. Without it somebody is taken to.
	Watch Watcher
}

// surroundings are Options with every gap filled.
type surroundings struct {
	home, workDir string
	env           func(string) string
	now           func() time.Time
}

func (o Options) resolve() surroundings {
	s := surroundings{home: o.Home, workDir: o.WorkDir, env: o.Env, now: o.Now}
	if s.env == nil {
		s.env = os.Getenv
	}
	if s.home == "" {
		s.home = s.env(homeVariable())
	}
	if s.home == "" {
		// Without any home the paths below it are simply missing.
		s.home, _ = os.UserHomeDir()
	}
	if s.workDir == "" {
		s.workDir, _ = os.Getwd()
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

func homeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

// absolute expands a leading ~ or ~user and makes the path absolute. Like
// Python's abspath it drops ".." by the text alone: MemPalace does so before
// it computes a lock key, so resolving links first would name another palace.
func (s surroundings) absolute(path string) string {
	path = s.expandUser(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.workDir, path)
	}
	return filepath.Clean(path)
}

func (s surroundings) expandUser(path string) string {
	if !strings.HasPrefix(path, "~") {
		return path
	}
	name, rest := path[1:], ""
	if i := strings.IndexFunc(name, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	if name == "" {
		if s.home == "" {
			return path
		}
		return s.home + rest
	}
	u, err := user.Lookup(name)
	if err != nil || u.HomeDir == "" {
		// Python leaves an unknown ~name as it is, and so a directory of that
		// very name is meant.
		return path
	}
	return u.HomeDir + rest
}
