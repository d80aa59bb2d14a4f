package palace

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// smallFileLimit bounds the JSON files read here: configuration, server
// records, the embedder file. Real ones have a few hundred bytes.
const smallFileLimit = 4 << 20

// errTooLarge says that a file which should be small is not.
var errTooLarge = errors.New("the file is larger than 4 MiB")

// readSmallFile reads a regular file. Opening a FIFO would wait for a writer
// for ever, so anything else is refused before opening and, since the name
// may have changed in between, once more behind a non-blocking open.
func readSmallFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &WrongKindError{Path: path, Want: "a regular file", Got: kindName(info.Mode())}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openNonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err = f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &WrongKindError{Path: path, Want: "a regular file", Got: kindName(info.Mode())}
	}
	if info.Size() > smallFileLimit {
		return nil, fmt.Errorf("%s: %w", path, errTooLarge)
	}
	b, err := io.ReadAll(io.LimitReader(f, smallFileLimit+1))
	if err != nil {
		return nil, err
	}
	if len(b) > smallFileLimit {
		return nil, fmt.Errorf("%s: %w", path, errTooLarge)
	}
	return b, nil
}
