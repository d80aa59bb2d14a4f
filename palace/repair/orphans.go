package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"castellan/palace/chroma"
	"castellan/palace/durable"
	"castellan/palace/health"
)

// orphans moves to the backup what belongs to no collection: nothing is deleted.
type orphans struct {
	dirs   []string
	tables []string
}

func (x *orphans) prepare(ctx context.Context, pt *patient) (work, error) {
	w := work{estimate: time.Second}
	x.dirs, x.tables = nil, nil
	// A copy that holds more than the live index is somebody's last hope.
	keep := map[string]bool{}
	for _, f := range pt.r.o.Examiner.Report(ctx, pt.r.o.Found, health.Full).Findings {
		if f.Code == health.QuarantineHoldsMore {
			keep[f.Subject] = true
			w.notes = append(w.notes, f.Subject+" stays: it holds vectors that the live index lacks")
		}
	}
	for _, q := range pt.r.site.Layout.Quarantined {
		if !keep[q.Path] {
			x.dirs = append(x.dirs, q.Path)
		}
	}
	for _, s := range pt.r.site.Layout.Segments {
		if !pt.facts.SegmentIDs[s.ID] {
			x.dirs = append(x.dirs, s.Path)
		}
	}
	for _, dir := range x.dirs {
		w.steps = append(w.steps, "move "+dir+" into the backup")
		w.touches = append(w.touches, dir)
	}
	for _, table := range []string{"embedding_metadata", "embedding_metadata_array"} {
		if n := pt.facts.OrphanRows[table]; n > 0 {
			x.tables = append(x.tables, table)
			w.steps = append(w.steps, fmt.Sprintf("remove %s of %s whose drawer is gone; the backup has them", count(n, "row", "rows"), table))
		}
	}
	if len(x.tables) > 0 {
		w.touches = append(w.touches, pt.database())
	}
	w.none = len(x.dirs) == 0 && len(x.tables) == 0
	return w, nil
}

func (x *orphans) perform(ctx context.Context, pt *patient, run *running) error {
	if err := run.phase("put away what nobody uses", false); err != nil {
		return err
	}
	if len(x.tables) > 0 {
		if err := run.at("orphan rows"); err != nil {
			return err
		}
		err := run.mend(ctx, pt, func(m *chroma.Mending) error {
			for _, table := range x.tables {
				if _, err := m.Exec("DELETE FROM " + table + " WHERE id NOT IN (SELECT id FROM embeddings)"); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(x.dirs) == 0 {
		return nil
	}
	aside := filepath.Join(run.j.Backup, asideDir)
	if err := os.Mkdir(aside, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, dir := range x.dirs {
		if err := run.at("move orphan"); err != nil {
			return err
		}
		run.changed = true
		if err := os.Rename(dir, filepath.Join(aside, filepath.Base(dir))); err != nil {
			return err
		}
		run.result.Moved = append(run.result.Moved, dir)
	}
	return errors.Join(durable.SyncDir(aside), durable.SyncDir(pt.dir))
}

// asideDir is where a backup keeps directories that were moved and not copied.
const asideDir = "moved"
