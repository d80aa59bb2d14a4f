package specimen

import (
	"errors"
	"os"
)

// growSparse makes name size bytes long without storing what is added. A file
// that is not there is made.
func growSparse(name string, size int64) (err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := allowHoles(f); err != nil {
		return err
	}
	return f.Truncate(size)
}
