package locks

import (
	"path/filepath"
	"strings"
)

const homeVariable = "USERPROFILE"

func isSeparator(r rune) bool { return r == '/' || r == '\\' }

// normcase folds a Windows path: lower case, backslashes.
func normcase(path string) string {
	return strings.ToLower(strings.ReplaceAll(path, "/", `\`))
}

// realpath resolves the part of the path that exists and keeps the rest.
func realpath(name string) string {
	full, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	tail := ""
	for head := full; ; {
		if real, err := filepath.EvalSymlinks(head); err == nil {
			return filepath.Join(real, tail)
		}
		parent := filepath.Dir(head)
		if parent == head {
			return full
		}
		tail = filepath.Join(filepath.Base(head), tail)
		head = parent
	}
}
