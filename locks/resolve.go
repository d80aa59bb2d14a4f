package locks

import (
	"os/user"
	"strings"
)

// Resolve gives the absolute, link-free spelling that MemPalace hashes:
// os.path.normcase(os.path.realpath(os.path.expanduser(path))). home is the
// value of HOME (USERPROFILE on Windows); when it is empty the user database
// is asked, as Python does for an unset HOME.
//
// Nothing has to exist: what is missing, unreadable or a loop of links stays
// in the answer as written. "~name" is looked up in /etc/passwd only; an
// unknown name stays as it is, which is how a directory literally called "~"
// comes about.
func Resolve(path, home string) string {
	return normcase(realpath(expanduser(path, home)))
}

func expanduser(path, home string) string {
	if !strings.HasPrefix(path, "~") {
		return path
	}
	end := len(path)
	if i := strings.IndexFunc(path, isSeparator); i >= 0 {
		end = i
	}
	name, rest := path[1:end], path[end:]
	if name != "" {
		u, err := user.Lookup(name)
		if err != nil {
			return path
		}
		home = u.HomeDir
	} else if home == "" {
		u, err := user.Current()
		if err != nil {
			return path
		}
		home = u.HomeDir
	}
	if full := strings.TrimRightFunc(home, isSeparator) + rest; full != "" {
		return full
	}
	return "/"
}
