package repair

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// nextData is where the next bytes that are stored begin; the file's end when
// there are none. Of a link list of 2.8 TB that holds some megabytes (MemPalace
// #525) the holes must not even be read.
func nextData(f *os.File, from, size int64) int64 {
	at, err := unix.Seek(int(f.Fd()), from, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return size
	case err != nil:
		return from
	}
	return at
}
