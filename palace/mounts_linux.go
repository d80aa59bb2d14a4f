package palace

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mount is one line of /proc/self/mountinfo.
type mount struct {
	device string // major:minor
	root   string // the directory of that file system that is mounted
	point  string // where it is mounted
	fstype string
}

// mounts reads the mount table, which never waits for a server that is gone.
func mounts() []mount {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	defer f.Close()
	return parseMounts(f)
}

// parseMounts reads lines of the form
//
//	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw
//
// as proc_pid_mountinfo(5) has them; lines of another form are skipped.
func parseMounts(r io.Reader) []mount {
	var list []mount
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		dash := slices.Index(f, "-")
		if dash < 6 || len(f) < dash+2 {
			continue
		}
		list = append(list, mount{
			device: f[2],
			root:   unescapeMount(f[3]),
			point:  unescapeMount(f[4]),
			fstype: f[dash+1],
		})
	}
	return list
}

// unescapeMount undoes the octal escapes for space, tab, newline, backslash.
func unescapeMount(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// mountOf is the mount that a resolved path lies on: the deepest, and of
// several at one place the last, which hides the others.
func mountOf(list []mount, real string) (mount, bool) {
	best, found := mount{}, false
	for _, m := range list {
		if _, ok := below(m.point, real); ok && (!found || len(m.point) >= len(best.point)) {
			best, found = m, true
		}
	}
	return best, found
}

// below gives path relative to dir when it lies at or under it.
func below(dir, path string) (string, bool) {
	if dir == path {
		return "", true
	}
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	return rest, ok
}

// otherMountPoints are the further places where a resolved path can be seen
// through the mount table: bind mounts of it or of a directory above it. They
// are candidates: a later mount may hide one.
func otherMountPoints(list []mount, real string) []string {
	own, ok := mountOf(list, real)
	if !ok {
		return nil
	}
	rest, _ := below(own.point, real)
	inside := filepath.Join(own.root, rest)
	var out []string
	for _, m := range list {
		if m.device != own.device || len(out) == maxAliases {
			continue
		}
		rel, ok := below(m.root, inside)
		if !ok {
			continue
		}
		if p := filepath.Join(m.point, rel); p != real && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// bindAliases are the other paths that lead to the same directory by way of
// the mount table. All lie on a file system that has just answered.
func bindAliases(real string) []string {
	id, err := identify(real)
	if err != nil {
		return nil
	}
	var out []string
	for _, p := range otherMountPoints(mounts(), real) {
		if other, err := identify(p); err == nil && other == id {
			out = append(out, p)
		}
	}
	return out
}

// maxAliases bounds what a host with thousands of mounts can cost.
const maxAliases = 16
