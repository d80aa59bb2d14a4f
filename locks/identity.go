package locks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// maxBody bounds what is read of a lock file. MemPalace writes a pid and
// three arguments.
const maxBody = 4096

// identity is what a lock file says about whoever wrote it. It survives the
// release of the lock, so it never decides who holds it.
type identity struct {
	pid  int    // 0 when the text names none
	text string // the recorded command, made safe to show
}

// readIdentity reads a lock file's body without touching the lock. Opening
// and closing a file drops no flock of another descriptor. A name that is not
// a regular file is refused before it can block (a FIFO) or answer for ever.
func readIdentity(path string) (id identity, modified time.Time, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return identity{}, time.Time{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return identity{}, time.Time{}, err
	}
	if !info.Mode().IsRegular() {
		return identity{}, time.Time{}, fmt.Errorf("%s: not a regular file, so it locks nothing", path)
	}
	body, err := io.ReadAll(io.LimitReader(f, maxBody))
	if err != nil {
		return identity{}, time.Time{}, fmt.Errorf("reading who took %s: %w", path, err)
	}
	return parseIdentity(body), info.ModTime(), nil
}

// parseIdentity reads `\0PID ARGV0 ARGV1 ARGV2` (MemPalace; byte 0 is the
// sentinel that Windows locks), the JSON object some forks write instead, and
// makes the best of anything else.
func parseIdentity(body []byte) identity {
	// A foreign body that starts at byte 0 would otherwise lose its first digit
	// and name another process.
	if len(body) > 0 && body[0] != '{' && (body[0] < '0' || body[0] > '9') {
		body = body[1:]
	}
	body = bytes.Trim(body, "\x00 \t\r\n")
	if len(body) == 0 {
		return identity{}
	}
	if body[0] == '{' {
		if id, ok := parseJSONIdentity(body); ok {
			return id
		}
	}
	words := strings.Fields(string(body))
	if len(words) == 0 {
		return identity{}
	}
	if pid, ok := parsePID(words[0]); ok {
		return identity{pid: pid, text: commandLine(words[1:])}
	}
	return identity{text: commandLine(words)}
}

func parseJSONIdentity(body []byte) (identity, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return identity{}, false
	}
	var id identity
	if raw, ok := fields["pid"]; ok {
		id.pid, _ = parsePID(strings.Trim(string(raw), `"`))
	}
	for _, name := range []string{"argv", "command", "cmdline", "cmd"} {
		var argv []string
		var line string
		if json.Unmarshal(fields[name], &argv) == nil && len(argv) > 0 {
			id.text = commandLine(argv)
			break
		}
		if json.Unmarshal(fields[name], &line) == nil && line != "" {
			id.text = commandLine(strings.Fields(line))
			break
		}
	}
	return id, true
}

func parsePID(s string) (int, bool) {
	pid, err := strconv.ParseInt(s, 10, 32)
	return int(pid), err == nil && pid > 0 && s[0] != '+'
}
