package chroma

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
)

// IndexError says why the vectors in a collection's index files cannot be
// read. Those that wait in the queue still can.
type IndexError struct {
	Dir string
	Err error
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("the vectors in %s cannot be read: %v; keep the directory, castellan repair can rebuild from what is readable", e.Dir, e.Err)
}

func (e *IndexError) Unwrap() error { return e.Err }

// index is the vectors of one segment on disk, by user id. Without index
// metadata, or with an empty map in it, there is no index: every vector waits
// in the queue, which is how most palaces are.
type index struct {
	dir    string
	stamp  indexStamp
	reader *hnswlib.Reader // nil without an index
	ids    idTable
	// legacy is the position that Chroma 0.x kept in the index metadata.
	legacy *int64
	err    error

	refs int // under indexCache.mu
	old  bool
}

// indexStamp is the outer state of the files that answers come from: index
// metadata, header, level 0 and lengths. Chroma writes them in place.
type indexStamp [4]hnswlib.FileFacts

func stampOfIndex(dir string) (indexStamp, error) {
	files, err := hnswlib.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return indexStamp{}, nil
	}
	return indexStamp{files.Pickle, files.Header, files.Level0, files.Length}, err
}

// indexCache holds one index a segment open, and reads it again when its files
// have changed.
type indexCache struct {
	mu sync.Mutex
	by map[string]*index
}

// acquire answers with the index in dir as it is now. release lets go of it.
func (c *indexCache) acquire(ctx context.Context, dir string) (ix *index, release func() error, err error) {
	now, err := stampOfIndex(dir)
	if err != nil {
		ix = &index{dir: dir, err: &IndexError{Dir: dir, Err: err}}
		return ix, func() error { return nil }, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ix = c.by[dir]
	if ix == nil || ix.stamp != now {
		fresh := &index{dir: dir, stamp: now}
		if err := fresh.load(ctx); err != nil {
			return nil, nil, err
		}
		if ix != nil {
			ix.old = true
			if err := ix.closeIfUnused(); err != nil {
				return nil, nil, errors.Join(err, fresh.close())
			}
		}
		if c.by == nil {
			c.by = map[string]*index{}
		}
		ix = fresh
		c.by[dir] = ix
	}
	ix.refs++
	return ix, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		ix.refs--
		return ix.closeIfUnused()
	}, nil
}

func (c *indexCache) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, ix := range c.by {
		errs = append(errs, ix.close())
	}
	c.by = nil
	return errors.Join(errs...)
}

func (ix *index) closeIfUnused() error {
	if !ix.old || ix.refs > 0 {
		return nil
	}
	return ix.close()
}

func (ix *index) close() error {
	if ix.reader == nil {
		return nil
	}
	r := ix.reader
	ix.reader = nil
	return r.Close()
}

// load reads ids and labels. What is wrong with the files is kept in err, for
// whoever needs a vector from them; only a cancelled context fails.
func (ix *index) load(ctx context.Context) error {
	if !ix.stamp[0].Present {
		return nil
	}
	err := ix.read(ctx)
	if err == nil {
		return nil
	}
	if cerr := ctx.Err(); cerr != nil {
		return errors.Join(cerr, ix.close())
	}
	ix.err = &IndexError{Dir: ix.dir, Err: errors.Join(err, ix.close())}
	ix.ids = idTable{}
	return nil
}

func (ix *index) read(ctx context.Context) error {
	meta, err := pickle.ReadFile(ctx, filepath.Join(ix.dir, hnswlib.PickleFile))
	if err != nil {
		return err
	}
	if len(meta.IDs) == 0 {
		return nil
	}
	ix.legacy = meta.MaxSeqID
	if ix.reader, err = hnswlib.Open(ix.dir); err != nil {
		return err
	}
	// Where a label stands twice the later element counts, as in the engine's
	// own table. An element marked deleted has no vector any more.
	at := make(map[uint64]uint32, len(meta.IDs))
	err = ix.reader.Labels(ctx, func(internal int, label uint64, deleted bool) error {
		if deleted {
			delete(at, label)
		} else {
			at[label] = uint32(internal)
		}
		return nil
	})
	var short *hnswlib.ShortError
	if err != nil && !errors.As(err, &short) {
		return err
	}
	ix.ids = newIDTable(meta.IDs, at)
	return nil
}

// idTable maps ids to internal indexes. It holds the ids of a large index as
// one text, since 200,000 strings and a map cost several times as much.
type idTable struct {
	text     string
	ends     []int
	internal []uint32
}

func newIDTable(labels map[string]uint64, at map[uint64]uint32) idTable {
	ids := make([]string, 0, len(labels))
	size := 0
	for id, label := range labels {
		if _, ok := at[label]; ok {
			ids = append(ids, id)
			size += len(id)
		}
	}
	slices.Sort(ids)
	t := idTable{ends: make([]int, len(ids)), internal: make([]uint32, len(ids))}
	var b strings.Builder
	b.Grow(size)
	for i, id := range ids {
		b.WriteString(id)
		t.ends[i], t.internal[i] = b.Len(), at[labels[id]]
	}
	t.text = b.String()
	return t
}

func (t idTable) at(i int) string {
	start := 0
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.text[start:t.ends[i]]
}

func (t idTable) find(id string) (int, bool) {
	lo, hi := 0, len(t.ends)
	for lo < hi {
		mid := (lo + hi) / 2
		if t.at(mid) < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(t.ends) || t.at(lo) != id {
		return 0, false
	}
	return int(t.internal[lo]), true
}

// exists says that there is an index, readable or not.
func (ix *index) exists() bool { return ix.reader != nil || ix.err != nil }

// flushed is the last write that the index contains: the recorded position, or
// the one that Chroma 0.x kept with the ids. Without an index it counts as 0,
// whatever is recorded.
func (ix *index) flushed(recorded *int64) int64 {
	switch {
	case !ix.exists():
		return 0
	case recorded != nil:
		return *recorded
	case ix.legacy != nil:
		return *ix.legacy
	}
	return 0
}
