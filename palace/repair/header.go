package repair

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
)

// behead makes a directory that stands for an index whose header.bin is missing
// or wrong, beside the system's other temporary files: a header that follows
// from what the collection records, and links to the other files. The layout of
// an element is settled by dimension and M; how many there are by the highest
// label, since slots are never used twice. Whether it fits is seen by the
// labels and the lengths of the vectors. Empty where there is nothing to stand
// for.
func (pt *patient) behead(ctx context.Context, g *gathered) (string, error) {
	header, err := os.ReadFile(filepath.Join(g.live, hnswlib.HeaderFile))
	if err == nil {
		if h, err := hnswlib.ParseHeader(header); err == nil && h.Layout() == nil {
			return "", nil // it is not the header
		}
	}
	meta, err := pickle.ReadFile(ctx, filepath.Join(g.live, hnswlib.PickleFile))
	if err != nil || !meta.Consistent() || len(meta.IDs) == 0 {
		return "", ctx.Err()
	}
	info, err := os.Lstat(filepath.Join(g.live, hnswlib.Level0File))
	if err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	h := hnswlib.NewHeader(g.dimension, orElse(g.row.Config.HNSW.M, defaultM), orElse(g.row.Config.HNSW.EFConstruction, defaultConstruction), 0)
	n := min(uint64(info.Size())/h.ElementSize, uint64(max(meta.TotalElementsAdded, 0)))
	if n == 0 {
		return "", nil
	}
	h.Elements, h.Capacity, h.MaxLevel, h.EntryPoint = n, uint64(hnswlib.Capacity(int(n))), 0, 0
	dir, err := os.MkdirTemp("", "castellan-header-") // 0700
	if err != nil {
		return "", err
	}
	pt.temps = append(pt.temps, dir)
	err = os.WriteFile(filepath.Join(dir, hnswlib.HeaderFile), h.Append(nil), 0o600)
	for _, name := range []string{hnswlib.Level0File, hnswlib.LengthFile, hnswlib.PickleFile} {
		err = errors.Join(err, os.Symlink(filepath.Join(g.live, name), filepath.Join(dir, name)))
	}
	return dir, err
}
