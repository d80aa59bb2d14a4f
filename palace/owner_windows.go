package palace

import (
	"io/fs"
	"os"
)

// ownerOf is not answered: the owner is in a security descriptor, and modes
// say nothing about access here.
func ownerOf(fs.FileInfo) (owner, group string) { return "", "" }

// writable knows the read-only attribute only.
func writable(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().Perm()&0o200 != 0
}
