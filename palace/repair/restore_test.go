package repair

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/specimen"

	"github.com/google/go-cmp/cmp"
)

func (s *stage) restore(from string) *Restore {
	s.t.Helper()
	e := look(s.home)
	s.t.Cleanup(func() { must(s.t, e.manager.Close()) })
	r, err := NewRestore(s.t.Context(), e.options(s.home, s.dir, ""), from)
	must(s.t, err)
	return r
}

// backUp takes a copy, and gives its directory.
func (s *stage) backUp() string {
	s.t.Helper()
	end := s.do(s.repair("", func(o *Options) { o.BackupOnly = true }))
	return end.Result.Detail.(*Result).Backup
}

func (s *stage) file(id string) {
	s.t.Helper()
	e := look(s.home)
	defer e.manager.Close()
	p, err := e.manager.Open(s.t.Context(), backend.Ref{Path: s.dir})
	must(s.t, err)
	c, err := p.Writer(s.t.Context(), specimen.Drawers)
	must(s.t, err)
	text, v := "filed later", make([]float32, *c.Info().Dimension)
	v[0] = 1
	must(s.t, c.Add(s.t.Context(), []backend.Record{{ID: id, Document: &text, Embedding: v, Metadata: backend.Metadata{"wing": "x"}}}))
}

func TestARestoredPalaceIsWhatTheCopySaysAndCanBeUndone(t *testing.T) {
	t.Parallel()
	s := sample(t, "synced")
	before, files := s.contents(), s.indexes()
	from := s.backUp()
	s.file("later")
	list, err := filepath.Glob(filepath.Join(s.dir, "*", "link_lists.bin"))
	must(t, err)
	must(t, os.Truncate(list[0], 0))
	sicker := s.contents()
	s.do(s.restore(from))
	wantSame(t, "restored", before, s.contents())
	if d := cmp.Diff(files, s.indexes()); d != "" {
		t.Errorf("index files differ:\n%s", d)
	}
	s.wantNothingLeft("restored")
	s.wantClean()
	s.do(s.undoAction())
	wantSame(t, "undone", sicker, s.contents())
	all, err := Backups(t.Context(), s.dir, true)
	must(t, err)
	if len(all) != 2 || all[0].TakenAt.Before(all[1].TakenAt) || all[0].Bytes == 0 {
		t.Errorf("%+v", all)
	}
	for _, b := range all {
		if b.Verified == nil || !*b.Verified || time.Since(b.TakenAt) > time.Hour || b.Palace != s.dir {
			t.Errorf("%+v", b)
		}
	}
}

func TestADatabaseThatIsNoneIsReplacedByItsCopy(t *testing.T) {
	slow(t)
	s := sample(t, "synced")
	before := s.contents()
	from := s.backUp()
	db := filepath.Join(s.dir, chroma.DatabaseFile)
	must(t, os.WriteFile(db, []byte("not a database any more, whatever it was before; far from it"), 0o600))
	must(t, os.WriteFile(db+"-journal", []byte("a journal of something else"), 0o600))
	refused(t, s.repair(""), NoPalace)
	end := s.do(s.restore(from))
	wantSame(t, "restored", before, s.contents())
	s.wantClean()
	aside := end.Result.Detail.(*Result).Backup
	if raw, err := os.ReadFile(filepath.Join(aside, chroma.DatabaseFile)); err != nil || len(raw) != 60 {
		t.Errorf("what was there is not in %s: %q, %v", aside, raw, err)
	}
}

func TestACopyThatIsDamagedOrAnothersIsRefused(t *testing.T) {
	slow(t)
	s := sample(t, "synced")
	from := s.backUp()
	files, err := filepath.Glob(filepath.Join(from, "*", "data_level0.bin"))
	must(t, err)
	f, err := os.OpenFile(files[0], os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte{1, 2, 3}, 5000)
	must(t, err)
	must(t, f.Close())
	refused(t, s.restore(from), BackupUnusable)
	refused(t, s.restore(s.dir), BackupUnusable)
	list, err := Backups(t.Context(), s.dir, true)
	must(t, err)
	if len(list) != 1 || *list[0].Verified {
		t.Errorf("%+v", list)
	}
	other := sample(t, "fresh")
	refused(t, s.restore(other.backUp()), BackupUnusable)
}

func TestACopyIsWholeWhileAWriterRuns(t *testing.T) {
	t.Parallel()
	s := small(t, 100)
	stop, done := make(chan struct{}), make(chan error, 1)
	p, err := chroma.Open(t.Context(), s.dir, chroma.Options{})
	must(t, err)
	go func() {
		defer close(done)
		c, err := p.Writable(chroma.Writing{}).Writer(t.Context(), specimen.Drawers)
		for i := 0; err == nil; i++ {
			select {
			case <-stop:
				return
			default:
			}
			v := make([]float32, 64)
			v[i%64] = 1
			err = c.Upsert(t.Context(), []backend.Record{{ID: "w", Embedding: v, Metadata: backend.Metadata{"n": int64(i)}}})
		}
		done <- err
	}()
	// It ignores the lock, as a writer of another program would.
	s.backUp()
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	must(t, p.Close())
	list, err := Backups(t.Context(), s.dir, true)
	must(t, err)
	if len(list) != 1 || !*list[0].Verified {
		t.Errorf("%+v", list)
	}
}

func TestANewPalaceHoldsEveryRowOfTheOldOne(t *testing.T) {
	slow(t)
	for _, name := range []string{"space-forgotten", "closets-sick", "fts-missing"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sick(t, name)
			if name == "closets-sick" {
				s.do(s.repair("")) // its vectors have to be there first
			}
			before := s.contents()
			res := s.do(s.repair(FromSQLite)).Result.Detail.(*Rebuilt)
			wantSame(t, "the old one", before, s.contents())
			fresh := &stage{t: t, home: s.home, dir: res.Palace}
			wantSame(t, "the new one", before, fresh.contents())
			fresh.wantClean()
		})
	}
}
