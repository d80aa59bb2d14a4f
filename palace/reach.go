package palace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// explain turns the failure to follow path into the error that names the
// place on the way which is to blame: the link that dangles, the directory
// that refuses, the file that stands where a directory should.
func explain(path string, err error) error {
	switch {
	case errors.Is(err, syscall.ELOOP):
		return &LinkLoopError{Path: path, Err: err}
	case errors.Is(err, fs.ErrPermission):
		return notPermitted(path, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return missing(path, err)
	}
	return &ReadError{Path: path, Err: err}
}

// missing walks up to the deepest part of path that exists and says what is
// wrong there.
func missing(path string, err error) error {
	for p := path; ; {
		info, lerr := os.Lstat(p)
		switch {
		case lerr == nil && info.Mode()&fs.ModeSymlink != 0:
			if _, serr := os.Stat(p); errors.Is(serr, fs.ErrNotExist) {
				target, _ := os.Readlink(p)
				return &DanglingLinkError{Path: p, Target: target}
			}
			return nearest(path, p, err)
		case lerr == nil:
			return nearest(path, p, err)
		}
		up := filepath.Dir(p)
		if up == p {
			return &ReadError{Path: path, Err: err}
		}
		p = up
	}
}

// nearest is for a path that exists up to p.
func nearest(path, p string, err error) error {
	info, serr := os.Stat(p)
	switch {
	case p == path:
		// It has come into being meanwhile: let the caller look again.
		return &ReadError{Path: path, Err: err}
	case serr == nil && !info.IsDir():
		return &WrongKindError{Path: p, Want: "a directory", Got: kindName(info.Mode())}
	}
	return &NotFoundError{Path: path, Nearest: p}
}

// notPermitted finds what refuses. When path itself cannot even be stat'ed
// the directory above it is to blame, or one further up.
func notPermitted(path string, err error) error {
	for p := path; ; {
		info, serr := os.Stat(p)
		if serr == nil {
			e := &NotPermittedError{Path: p, Mode: info.Mode(), Err: err}
			e.Owner, e.Group = ownerOf(info)
			return e
		}
		up := filepath.Dir(p)
		if up == p {
			return &NotPermittedError{Path: path, Err: err}
		}
		p = up
	}
}
