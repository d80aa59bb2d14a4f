package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"castellan/palace/chroma"
	"castellan/palace/dbfile"
	"castellan/palace/durable"
	"castellan/palace/hnswlib"
)

// A backup is a directory beside the palace: the database, the index directories
// that are replaced, and a description that is written last.
const (
	// BackupInfix follows the palace's path in the name of a backup.
	BackupInfix    = ".castellan-backup-"
	backupManifest = "castellan-backup.json"
	stampForm      = "20060102-150405"
)

// manifest describes a backup. A directory without one is no backup.
type manifest struct {
	Version int       `json:"version"`
	By      string    `json:"by"`
	Palace  string    `json:"palace"`
	At      time.Time `json:"taken_at"`
	Reason  string    `json:"reason"`
	// Files are the checksums by slash-separated path; see digest.
	Files map[string]string `json:"files"`
	// Absent are index directories that did not exist.
	Absent []string `json:"absent"`
	Print  print    `json:"palace_state"`
}

// backupName is a name that nothing has yet.
func (r *Repair) backupName() string {
	base := strings.TrimRight(r.dir, string(filepath.Separator)) + BackupInfix + r.o.Now().Format(stampForm)
	name := base
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
}

// takeBackup copies what the palace consists of, verifies the copy, and
// describes it. What it finds under the name is never touched.
func (r *Repair) takeBackup(ctx context.Context, pt *patient, to, reason string, dirs []string) (*manifest, error) {
	if err := os.Mkdir(to, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, refuse(BackupExists, to, "plan again: the next plan has another name", "there is something under the backup's name already")
		}
		return nil, err
	}
	m := &manifest{Version: 1, By: "castellan " + r.o.Version, Palace: r.dir, At: r.o.Now().UTC(), Reason: reason, Files: map[string]string{}}
	done := false
	defer func() {
		if !done {
			os.RemoveAll(to)
		}
	}()
	if err := r.at("copy database"); err != nil {
		return nil, err
	}
	before, err := printOf(ctx, pt.p)
	if err != nil {
		return nil, err
	}
	db := filepath.Join(to, chroma.DatabaseFile)
	if err := pt.p.DB().Backup(ctx, db); err != nil {
		return nil, fmt.Errorf("copying the database: %w", err)
	}
	seen := map[string]bool{}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		if seen[name] {
			continue
		}
		seen[name] = true
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			m.Absent = append(m.Absent, name)
			continue
		}
		if err := r.at("copy index"); err != nil {
			return nil, err
		}
		hashes, err := copyStill(ctx, dir, filepath.Join(to, name))
		if err != nil {
			return nil, fmt.Errorf("copying %s: %w", dir, err)
		}
		for file, h := range hashes {
			m.Files[name+"/"+file] = h
		}
	}
	if err := r.at("verify backup"); err != nil {
		return nil, err
	}
	if m.Print, err = printIn(ctx, to); err != nil {
		return nil, err
	}
	if m.Print.QueueTop < before.QueueTop || len(m.Print.Rows) < len(before.Rows) {
		return nil, refuse(BackupUnusable, to, "try again", "it holds less than the palace did: %v and %v", m.Print, before)
	}
	if m.Files[chroma.DatabaseFile], err = digest(ctx, db); err != nil {
		return nil, err
	}
	if err := verifyBackup(ctx, to, m); err != nil {
		return nil, err
	}
	if err := r.at("describe backup"); err != nil {
		return nil, err
	}
	if err := describe(to, m); err != nil {
		return nil, err
	}
	if err := errors.Join(sameOwners(to, r.dir), durable.SyncDir(filepath.Dir(to))); err != nil {
		return nil, err
	}
	done = true
	return m, nil
}

// copyStill copies index files that nobody changes meanwhile. Chroma writes them
// before it notes how far they are, so files that are newer than the copy of
// the database go with it: their tail is replayed. Torn ones do not.
func copyStill(ctx context.Context, from, to string) (map[string]string, error) {
	for try := 1; ; try++ {
		before, err := hnswlib.Stat(from)
		if err != nil {
			return nil, err
		}
		hashes, err := copyDir(ctx, from, to)
		if err != nil {
			return nil, err
		}
		after, err := hnswlib.Stat(from)
		if err != nil {
			return nil, err
		}
		if before == after {
			return hashes, nil
		}
		if try == 3 {
			return nil, refuse(Changed, from, "wait until nothing writes, and try again", "somebody wrote to it during each of %d attempts to copy it", try)
		}
		if err := os.RemoveAll(to); err != nil {
			return nil, err
		}
	}
}

// sameOwners gives a tree of ours to the palace's owner.
func sameOwners(tree, like string) error {
	return filepath.WalkDir(tree, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return sameOwner(path, like)
	})
}

// verifyBackup reads every file again, and asks SQLite about the database.
func verifyBackup(ctx context.Context, dir string, m *manifest) error {
	bad := func(reason string, args ...any) error {
		return refuse(BackupUnusable, dir, "check the disk, and try again", reason, args...)
	}
	for name, want := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return bad("its description names %q", name)
		}
		got, err := digest(ctx, filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return bad("%s cannot be read: %v", name, err)
		}
		if got != want {
			return bad("%s is not what was copied", name)
		}
	}
	p, err := chroma.Open(ctx, dir, chroma.Options{})
	if err != nil {
		return bad("its database cannot be opened: %v", err)
	}
	defer p.Close()
	check, err := p.CheckDatabase(ctx, chroma.Check{Copied: true})
	if err != nil {
		return bad("its database cannot be checked: %v", err)
	}
	if len(check.Damage) > 0 {
		return bad("its database is damaged: %s", check.Damage[0])
	}
	got, err := printOf(ctx, p)
	if err != nil {
		return bad("its rows cannot be counted: %v", err)
	}
	if !got.equal(m.Print) {
		return bad("it does not hold the rows of the palace: %v and %v", got, m.Print)
	}
	return nil
}

// describe makes a directory a backup.
func describe(dir string, m *manifest) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, backupManifest), raw)
}

// readManifest reads the description of a backup.
func readManifest(dir string) (*manifest, error) {
	path := filepath.Join(dir, backupManifest)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxJournal {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is no description of a backup")}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &manifest{}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Version != 1 {
		return nil, fmt.Errorf("%s has version %d where 1 is known; use the Castellan that wrote it", path, m.Version)
	}
	return m, nil
}

// print is what tells whether anybody has written: every write of a row goes
// through the queue, whose numbers only grow.
type print struct {
	QueueTop int64            `json:"queue_top"`
	Rows     map[string]int64 `json:"rows"` // by collection id
}

func (a print) equal(b print) bool {
	if a.QueueTop != b.QueueTop || len(a.Rows) != len(b.Rows) {
		return false
	}
	for id, n := range a.Rows {
		if m, ok := b.Rows[id]; !ok || m != n {
			return false
		}
	}
	return true
}

// printIn is that of the palace, or the copy of one, in dir.
func printIn(ctx context.Context, dir string) (print, error) {
	p, err := chroma.Open(ctx, dir, chroma.Options{})
	if err != nil {
		return print{}, err
	}
	f, err := printOf(ctx, p)
	return f, errors.Join(err, p.Close())
}

func printOf(ctx context.Context, p *chroma.Palace) (print, error) {
	list, err := p.Catalog(ctx)
	if err != nil {
		return print{}, err
	}
	f := print{Rows: map[string]int64{}}
	err = p.DB().View(ctx, func(tx *dbfile.Tx) error {
		if err := tx.QueryRow(ctx, "SELECT COALESCE(max(seq_id), 0) FROM embeddings_queue", nil, &f.QueueTop); err != nil {
			return err
		}
		for _, c := range list {
			seg := c.Segment(chroma.ScopeMetadata)
			if seg == nil {
				continue
			}
			var n int64
			if err := tx.QueryRow(ctx, "SELECT count(*) FROM embeddings WHERE segment_id = ?", []any{seg.ID}, &n); err != nil {
				return err
			}
			f.Rows[c.ID] = n
		}
		return nil
	})
	return f, err
}
