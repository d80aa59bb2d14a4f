package repair

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"castellan/palace"
	"castellan/palace/chroma"
	"castellan/palace/durable"
)

// dirs are the index directories of a backup.
func (m *manifest) dirs() []string {
	var list []string
	for name := range m.Files {
		if dir := path.Dir(name); dir != "." && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	slices.Sort(list)
	return list
}

// putBack makes the palace what a backup says. Each step can be made again; the
// backup stays as it is. The rows come first: an index that is newer than its
// rows is complete, and one that is older may have been given up.
func (r *Repair) putBack(ctx context.Context, backup, work string, at func(string) error) error {
	m, err := readManifest(backup)
	if err != nil {
		return refuse(BackupUnusable, backup, "look for another one: castellan backups list", "its description cannot be read: %v", err)
	}
	if err := verifyBackup(ctx, backup, m); err != nil {
		return err
	}
	if err := os.Mkdir(work, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := at("restore rows"); err != nil {
		return err
	}
	if err := r.restoreRows(ctx, filepath.Join(backup, chroma.DatabaseFile)); err != nil {
		return err
	}
	for _, dir := range m.dirs() {
		if strings.Contains(dir, "/") {
			return refuse(BackupUnusable, backup, "look for another one: castellan backups list", "it names a directory %q", dir)
		}
		if err := at("restore index"); err != nil {
			return err
		}
		fresh := filepath.Join(work, dir)
		if err := os.RemoveAll(fresh); err != nil {
			return err
		}
		if _, err := copyDir(ctx, filepath.Join(backup, dir), fresh); err != nil {
			return err
		}
		if err := sameOwners(fresh, r.dir); err != nil {
			return err
		}
		if err := at("exchange back"); err != nil {
			return err
		}
		if err := swap(fresh, filepath.Join(r.dir, dir), at); err != nil {
			return err
		}
	}
	for _, dir := range m.Absent {
		if err := rename(filepath.Join(r.dir, dir), filepath.Join(work, dir)); err != nil {
			return err
		}
	}
	if err := r.moveBack(filepath.Join(backup, asideDir), at); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(work), durable.SyncDir(r.dir))
}

func (r *Repair) restoreRows(ctx context.Context, from string) error {
	p, err := chroma.Open(ctx, r.dir, chroma.Options{})
	if err != nil {
		return err
	}
	return errors.Join(p.Writable(chroma.Writing{Alone: r.alone}).Restore(ctx, from), p.Close())
}

func rename(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// moveBack puts directories back that were moved into the backup.
func (r *Repair) moveBack(aside string, at func(string) error) error {
	list, err := os.ReadDir(aside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := at("move back"); err != nil {
			return err
		}
		to := filepath.Join(r.dir, e.Name())
		if _, err := os.Lstat(to); err == nil {
			continue // it is there
		}
		if err := os.Rename(filepath.Join(aside, e.Name()), to); err != nil {
			return err
		}
	}
	return nil
}

// clear removes the directory in which an unfinished repair built.
func (r *Repair) clear(j *journal) error {
	if filepath.Dir(j.Work) != r.dir || !strings.HasPrefix(filepath.Base(j.Work), palace.RepairDir) {
		return nil // not ours
	}
	return os.RemoveAll(j.Work)
}
