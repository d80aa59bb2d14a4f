//go:build unix

package palace

import (
	"io"
	"os"
)

// pinDirectory keeps a directory's inode in use. File systems give the number
// of a deleted directory to the next one that is made, and a palace that is
// deleted and made again must not be taken for the old one.
func pinDirectory(path string) (io.Closer, error) {
	return os.OpenFile(path, os.O_RDONLY|openNonBlocking, 0)
}
