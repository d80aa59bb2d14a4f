package locks

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// systemDirectories hold what the distribution installs. What people and pip
// install goes elsewhere: /usr/local, /opt, somebody's home.
var systemDirectories = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/libexec"}

// systemScripts are Python services that distributions start as root on many
// machines. They keep no palace, and are believed only where the script lies
// with the distribution's own programs.
var systemScripts = []string{"networkd-dispatcher", "unattended-upgrade-shutdown", "firewalld", "tuned", "fail2ban-server"}

// nameLength is what the kernel keeps of a program's name, in bytes
// (TASK_COMM_LEN without the NUL).
const nameLength = 15

// keepsPalaces tells whether a process could be one of MemPalace, of Chroma or
// of another program that opens palaces; in doubt it could. It could not if it
// runs a binary that the distribution installed, under that binary's own name,
// which is no interpreter, and nothing in its arguments says otherwise.
//
// Chroma runs inside Python, Node or a server of theirs, or as the binary
// "chroma" that pip, npm or an installer puts outside of the distribution's
// directories. The arguments are whatever the process says they are: this
// decides what is worth waiting for, not what is safe to trust.
func keepsPalaces(argv []string, comm string) bool {
	if len(argv) == 0 || argv[0] == "" {
		return true
	}
	text := strings.ToLower(strings.Join(argv, "\x00"))
	if len(text) >= maxArguments-1 {
		return true // cut off
	}
	if len(argv) > 1 && isPython(programName(argv[0])) && systemScript(argv[1]) {
		return false
	}
	if mentionsPalaces(text) {
		return true
	}
	// A title of its own: "sshd: somebody [priv]", "-bash", "nginx: master process".
	program := strings.TrimPrefix(strings.TrimSuffix(strings.Fields(argv[0] + " ")[0], ":"), "-")
	for _, path := range candidates(program) {
		real, ok := systemFile(path)
		if !ok || !isBinary(real) {
			continue
		}
		called := func(name string) bool { return name[:min(len(name), nameLength)] == comm }
		name := filepath.Base(real)
		if called(name) || called(filepath.Base(path)) {
			return isRuntime(name) || isRuntime(filepath.Base(path))
		}
	}
	return true
}

// candidates are the files that a program named in arguments may be.
func candidates(program string) []string {
	if filepath.IsAbs(program) {
		return []string{program}
	}
	if program == "" || strings.Contains(program, "/") {
		return nil
	}
	var out []string
	for _, dir := range systemDirectories[:4] {
		out = append(out, filepath.Join(dir, program))
	}
	return out
}

// systemScript tells whether a file is one of the systemScripts.
func systemScript(path string) bool {
	if !slices.Contains(systemScripts, filepath.Base(path)) {
		return false
	}
	_, ok := systemFile(path)
	return ok || strings.HasPrefix(filepath.Clean(path), "/usr/share/") && ofRoot(path)
}

// systemFile resolves a path to a file that the distribution installed.
func systemFile(path string) (real string, ok bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !slices.ContainsFunc(systemDirectories, func(d string) bool { return strings.HasPrefix(real, d+"/") }) {
		return "", false
	}
	return real, ofRoot(real)
}

// ofRoot tells whether nobody but root can have written the file.
func ofRoot(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && st.Uid == 0 && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Mode&0o022 == 0
}

func isBinary(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, 4)
	_, err = io.ReadFull(f, magic)
	return err == nil && bytes.Equal(magic, []byte("\x7fELF"))
}
