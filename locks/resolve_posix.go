//go:build !windows

package locks

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

const homeVariable = "HOME"

func isSeparator(r rune) bool { return r == '/' }

// normcase leaves POSIX paths alone, also on macOS, where Python does not
// fold case although the file system does.
func normcase(path string) string { return path }

// realpath follows os.path.realpath(strict=False), which filepath.EvalSymlinks
// does not: a missing tail is kept, ".." is applied to the resolved directory
// rather than to the text, and a link met again while it is being followed is
// kept by its name.
//
// It ends for every input: each link is read once, and its target is kept.
func realpath(name string) string {
	path := "/"
	if !strings.HasPrefix(name, "/") {
		// The kernel's answer: os.Getwd would trust PWD and its links.
		cwd, err := syscall.Getwd()
		if err != nil {
			return name
		}
		path = cwd
	}

	// todo holds what is left, last part first. A part with done set marks the
	// end of a link's target: the link by that name is resolved to path.
	type part struct {
		name string
		done bool
	}
	push := func(todo []part, s string) []part {
		parts := strings.Split(s, "/")
		slices.Reverse(parts)
		for _, p := range parts {
			todo = append(todo, part{name: p})
		}
		return todo
	}
	type link struct {
		target   string
		resolved bool
	}
	links := map[string]link{}

	for todo := push(nil, name); len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case next.done:
			links[next.name] = link{path, true}
			continue
		case next.name == "" || next.name == ".":
			continue
		case next.name == "..":
			path = path[:strings.LastIndexByte(path, '/')]
			if path == "" {
				path = "/"
			}
			continue
		}
		full := strings.TrimSuffix(path, "/") + "/" + next.name
		if seen, ok := links[full]; ok {
			path = full // a loop, unless it was resolved
			if seen.resolved {
				path = seen.target
			}
			continue
		}
		target, err := os.Readlink(full)
		if err != nil {
			path = full // no link, or nothing there
			continue
		}
		if strings.HasPrefix(target, "/") {
			path = "/"
		}
		links[full] = link{}
		todo = append(todo, part{name: full, done: true})
		todo = push(todo, target)
	}
	return path
}
