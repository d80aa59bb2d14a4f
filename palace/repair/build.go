package repair

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"castellan/palace/chroma/pickle"
	"castellan/palace/durable"
	"castellan/palace/hnswlib"
)

// build writes the files of an index into a new directory, the names last.
func (g *gathered) build(ctx context.Context, pt *patient, dir string, run *running) error {
	hnsw := g.row.Config.HNSW
	b, err := hnswlib.NewBuilder(hnswlib.BuildOptions{
		Space: g.space, Dimension: g.dimension, M: orElse(hnsw.M, defaultM), EfConstruction: orElse(hnsw.EFConstruction, defaultConstruction),
		Workers: runtime.GOMAXPROCS(0), Seed: 1,
		Progress: func(done, total int) { run.report.Progress(int64(done), int64(total), "vectors") },
	}, g.have())
	if err != nil {
		return err
	}
	labels := make(map[string]uint64, g.have())
	next := uint64(0)
	err = g.each(ctx, pt.p, func(id string, v []float32) error {
		next++
		labels[id] = next
		return b.Add(next, v)
	})
	if err != nil {
		return err
	}
	graph, err := b.Build(ctx)
	if err != nil {
		return err
	}
	if err := run.at("write index"); err != nil {
		return err
	}
	if err := graph.Write(ctx, dir); err != nil {
		return err
	}
	if err := run.at("write names"); err != nil {
		return err
	}
	if err := writeNames(filepath.Join(dir, hnswlib.PickleFile), labels, next); err != nil {
		return err
	}
	return errors.Join(durable.SyncDir(dir), sameOwners(dir, pt.dir))
}

func writeNames(path string, labels map[string]uint64, total uint64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 256<<10)
	err = pickle.Encode(b, labels, total)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// swap puts a directory in the place of another one, which then is where the
// first one was.
func swap(fresh, live string, at func(string) error) error {
	defer durable.SyncDir(filepath.Dir(live))
	if _, err := os.Lstat(live); errors.Is(err, fs.ErrNotExist) {
		return errors.Join(os.Rename(fresh, live), durable.SyncDir(filepath.Dir(live)))
	}
	done, err := exchange(fresh, live)
	if err != nil || done {
		return errors.Join(err, durable.SyncDir(filepath.Dir(live)))
	}
	// For a moment there is no index: Chroma would make an empty one and replay
	// the queue into it, and loses nothing that is not in ours.
	old := fresh + ".old"
	if err := os.Rename(live, old); err != nil {
		return err
	}
	if err := at("between renames"); err != nil {
		return err
	}
	if err := os.Rename(fresh, live); err != nil {
		return errors.Join(err, os.Rename(old, live))
	}
	return durable.SyncDir(filepath.Dir(live))
}
