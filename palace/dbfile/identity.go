package dbfile

import "os"

// FileID names a file by device and inode (on Windows by volume serial and file index), so that two spellings
// of one path compare equal and a new file at an old path does not.
type FileID struct{ Dev, Ino uint64 }

// Identify follows links and returns the identity of what path leads to: a file, a directory, anything.
// It opens nothing on systems with POSIX locks. The error is a [*FileError].
func Identify(path string) (FileID, error) {
	info, err := os.Stat(path)
	if err != nil {
		return FileID{}, classify(path, err)
	}
	id, err := idOfPath(path, info)
	if err != nil {
		return FileID{}, classify(path, err)
	}
	return id, nil
}
