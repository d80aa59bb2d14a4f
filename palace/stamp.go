package palace

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"castellan/palace/dbfile"
)

// Stamp is the outer state of a palace, comparable with ==. Equal stamps mean
// that nothing was written that a file's size or time would show.
type Stamp struct {
	db    dbfile.Stamp
	files uint64
}

// Changed compares the palace with an earlier stamp, by stat alone, and gives
// the stamp of now. The zero Stamp differs from every other. A palace that was
// deleted or replaced answers with a *MovedError.
//
// Take the stamp before reading: what is written during the reading then shows
// next time.
func (p *Palace) Changed(ctx context.Context, since Stamp) (now Stamp, changed bool, err error) {
	if _, err := p.enter(); err != nil {
		return Stamp{}, false, err
	}
	defer p.inflight.Done()
	if err := ctx.Err(); err != nil {
		return Stamp{}, false, fmt.Errorf("looking at %s: %w", p.ref.Path, err)
	}
	type answer struct {
		Stamp
		err error
	}
	a, err := observe(ctx, &p.manager.looks, p.ref.Real, lookLimit, func(ctx context.Context) answer {
		now, err := p.stamp(ctx)
		return answer{now, err}
	})
	if err = errors.Join(err, a.err); err != nil {
		return Stamp{}, true, err
	}
	return a.Stamp, a.Stamp != since, nil
}

func (p *Palace) stamp(ctx context.Context) (now Stamp, err error) {
	if !p.inPlace() {
		return now, &MovedError{Path: p.ref.Path}
	}
	if now.db, err = dbfile.StampOf(p.database()); err != nil {
		return now, err
	}
	now.files = p.filesStamp(ctx)
	return now, nil
}

// filesStamp covers what lies beside the database: names come and go with the
// quarantine of a segment, and index files are written some time after the
// rows that they belong to.
func (p *Palace) filesStamp(ctx context.Context) uint64 {
	sum := fnv.New64a()
	for _, name := range listSome(ctx, p.ref.Real, maxEntries) {
		fmt.Fprintf(sum, "%s\x00", name)
		if !segmentName.MatchString(name) {
			continue
		}
		for _, file := range []string{"header.bin", "data_level0.bin", "length.bin", "link_lists.bin", "index_metadata.pickle"} {
			if info, err := os.Lstat(filepath.Join(p.ref.Real, name, file)); err == nil {
				fmt.Fprintf(sum, "%s %d %d\x00", file, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return sum.Sum64()
}
