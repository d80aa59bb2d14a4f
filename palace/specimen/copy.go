package specimen

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Database is the file name of Chroma's SQLite database inside a palace.
const Database = "chroma.sqlite3"

// ErrNotEmpty says that a palace was to be made where something lies already.
var ErrNotEmpty = errors.New("directory is not empty: name a new or an empty one")

// CopyFS copies the palace of the sample called name, which lies at
// name/palace in fsys, to dst. Directories become 0700 and files 0600, as
// MemPalace keeps them. dst is made if need be and must hold nothing yet.
func CopyFS(fsys fs.FS, name, dst string) error {
	src := path.Join(name, "palace")
	if err := makeEmptyDir(dst); err != nil {
		return fmt.Errorf("copy sample %s: %w", name, err)
	}
	err := fs.WalkDir(fsys, src, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(filepath.FromSlash(src), filepath.FromSlash(p))
		if err != nil {
			return err
		}
		to := filepath.Join(dst, rel)
		switch {
		case rel == ".":
			return nil
		case d.IsDir():
			return os.Mkdir(to, 0o700)
		case d.Type().IsRegular():
			return copyFile(fsys, p, to)
		}
		return fmt.Errorf("%s is neither a file nor a directory", p)
	})
	if err != nil {
		return fmt.Errorf("copy sample %s to %s: %w", name, dst, err)
	}
	return nil
}

// makeEmptyDir makes dir, or takes it as it is when it holds nothing.
func makeEmptyDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s: %w", dir, ErrNotEmpty)
	}
	return os.Chmod(dir, 0o700)
}

func copyFile(fsys fs.FS, from, to string) (err error) {
	in, err := fsys.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	// O_EXCL: a copy never writes through a link or over a file.
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
