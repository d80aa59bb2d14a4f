package locks

import (
	"strconv"
	"strings"
)

// lsofFile is one open file that lsof reports.
type lsofFile struct {
	pid    int
	access string // r, w or u; "" = not said
	kind   string // REG, DIR, ...
	id     fileID
	path   string
}

// lsofFields asks for what parseLsof reads: process, descriptor, access, type,
// device, inode, name.
const lsofFields = "-FpfatDin"

// parseLsof reads lsof's output for programs: one field a line, named by its
// first letter; "p" begins a process, "f" a file (lsof(8), OUTPUT FOR OTHER
// PROGRAMS). lsof escapes control characters in names itself.
func parseLsof(out string) []lsofFile {
	var files []lsofFile
	pid := 0
	var current *lsofFile
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			continue
		}
		field, value := line[0], line[1:]
		switch field {
		case 'p':
			pid, _ = parsePID(value)
			current = nil
			continue
		case 'f':
			current = nil
			// Only numbered descriptors: not mapped programs or directories.
			if _, err := strconv.Atoi(value); err == nil && pid > 0 {
				files = append(files, lsofFile{pid: pid})
				current = &files[len(files)-1]
			}
			continue
		}
		if current == nil {
			continue
		}
		switch field {
		case 'a':
			current.access = strings.TrimSpace(value)
		case 't':
			current.kind = value
		case 'D':
			current.id.dev, _ = strconv.ParseUint(value, 0, 64)
		case 'i':
			current.id.ino, _ = strconv.ParseUint(value, 10, 64)
		case 'n':
			current.path = value
		}
	}
	return files
}
