package locks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxSourceNames bounds how many per-source lock files are looked at one by
// one. More are still counted, and still found through whoever has them open.
const maxSourceNames = 1 << 18

// listing is the lock directory's content, by kind.
type listing struct {
	dir     string // "" = there is no such directory
	palaces []string
	wants   []string
	sources []string
	total   int // per-source lock files, also beyond maxSourceNames
	err     error
}

// list reads the names in a lock directory. It creates nothing: a missing
// directory is an answer.
func list(dir string) listing {
	d, err := os.OpenFile(dir, os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return listing{}
	}
	l := listing{dir: dir}
	if err != nil {
		l.err = fmt.Errorf("listing the locks: %w", err)
		return l
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(2048)
		for _, name := range names {
			switch kind, _ := parseName(name); kind {
			case namePalace:
				l.palaces = append(l.palaces, name)
			case nameWant:
				l.wants = append(l.wants, name)
			case nameSource:
				l.total++
				if len(l.sources) < maxSourceNames {
					l.sources = append(l.sources, name)
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return l
		}
		if err != nil {
			l.err = fmt.Errorf("listing the locks in %s: %w", dir, err)
			return l
		}
	}
}
