package locks

import (
	"bytes"
	"encoding/binary"
)

// parseProcArgs reads the answer of macOS's kern.procargs2: the number of
// arguments (native int32), the program's path, NUL padding, then each
// argument with its NUL. The environment follows and is not read.
func parseProcArgs(raw []byte) []string {
	if len(raw) < 4 {
		return nil
	}
	count := int(int32(binary.NativeEndian.Uint32(raw)))
	_, rest, ok := bytes.Cut(raw[4:], []byte{0})
	if !ok {
		return nil
	}
	rest = bytes.TrimLeft(rest, "\x00")
	var argv []string
	for len(argv) < count && len(rest) > 0 {
		arg, after, _ := bytes.Cut(rest, []byte{0})
		argv = append(argv, string(arg))
		rest = after
	}
	return argv
}
