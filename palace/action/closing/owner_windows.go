package closing

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file inherits the rights of its directory.
func keepOwner(*os.File, fs.FileInfo) error { return nil }
