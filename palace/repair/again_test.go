package repair

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"castellan/palace/backend"
	"castellan/palace/change"

	"github.com/google/go-cmp/cmp"
)

// stopAt fails the n-th step, and says which that was.
func stopAt(n int) (at func(string) error, step *string) {
	i, step := 0, new(string)
	return func(s string) error {
		if i++; i == n {
			*step = s
			return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
		}
		return nil
	}, step
}

func TestAnUndoThatIsCutShortCanBeMadeAgain(t *testing.T) {
	slow(t)
	for name, threshold := range map[string]int{"index written": 100, "through the queue": 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := small(t, threshold)
			files, rows := first.indexes(), first.contents()
			for n := 1; ; n += stride {
				s := &stage{t: t, home: t.TempDir()}
				s.dir = filepath.Join(s.home, "p")
				must(t, os.CopyFS(s.dir, os.DirFS(first.dir)))
				s.do(s.repair(""))
				at, step := stopAt(n)
				e := look(s.home)
				p, err := e.manager.Open(t.Context(), backend.Ref{Path: s.dir})
				must(t, err)
				u, err := change.NewUndo(change.Target{Manager: e.manager, Palace: p, StateDir: filepath.Join(s.home, "state"), Watch: e.watch}, Restorer{at: at})
				must(t, err)
				end := s.run(u, planned(t, u))
				must(t, e.manager.Close())
				if *step == "" {
					if end.Err != nil || n < 4 {
						t.Errorf("%d steps, %v", n, end.Err)
					}
					return
				}
				what := fmt.Sprintf("stopped before step %d (%s)", n, *step)
				s.safeRows(what, rows)
				s.do(s.undoAction())
				if d := cmp.Diff(files, s.indexes()); d != "" {
					t.Errorf("%s: index files differ:\n%s", what, d)
				}
				wantSame(t, what, rows, s.contents())
				s.wantNothingLeft(what)
			}
		})
	}
}

// safeRows wants every text; vectors may be where only the copy has them, since
// the palace is on its way to a sick state.
func (s *stage) safeRows(what string, want map[string]map[string]backend.Record) {
	s.t.Helper()
	for name, rows := range s.contents() {
		if len(rows) != len(want[name]) {
			s.t.Errorf("%s: %s has %d rows, had %d", what, name, len(rows), len(want[name]))
		}
		for id, r := range rows {
			if w := want[name][id]; !cmp.Equal(r.Document, w.Document) || !cmp.Equal(r.Metadata, w.Metadata) {
				s.t.Errorf("%s: %s changed", what, id)
			}
		}
	}
}

func TestARestoringThatIsCutShortCanBeMadeAgain(t *testing.T) {
	t.Parallel()
	first := sample(t, "fresh")
	rows, files := first.contents(), first.indexes()
	first.backUp()
	first.file("later")
	later := first.contents()
	for n := 1; ; n += stride {
		s := &stage{t: t, home: t.TempDir()}
		s.dir = filepath.Join(s.home, "p")
		must(t, os.CopyFS(s.home, os.DirFS(first.home)))
		list, err := filepath.Glob(s.dir + BackupInfix + "*")
		must(t, err)
		s.movedHere(list[0])
		r := s.restore(list[0])
		at, step := stopAt(n)
		r.r.at = at
		end := s.run(r, planned(t, r))
		if *step == "" {
			if end.Err != nil || n < 8 {
				t.Errorf("%d steps, %v", n, end.Err)
			}
			return
		}
		what := fmt.Sprintf("stopped before step %d (%s)", n, *step)
		if end.Err == nil {
			t.Errorf("%s: it says nothing", what)
		}
		if got := s.contents(); !cmp.Equal(got, rows) && !cmp.Equal(got, later) {
			t.Errorf("%s: the palace is neither what it was nor what the copy says", what)
		}
		s.do(s.restore(list[0]))
		wantSame(t, what, rows, s.contents())
		if d := cmp.Diff(files, s.indexes()); d != "" {
			t.Errorf("%s: index files differ:\n%s", what, d)
		}
		s.wantNothingLeft(what)
	}
}

// movedHere tells a copied backup whose it is.
func (s *stage) movedHere(backup string) {
	s.t.Helper()
	m, err := readManifest(backup)
	must(s.t, err)
	m.Palace = s.dir
	must(s.t, describe(backup, m))
}

// A palace in WAL mode, and one whose last writer died, are repaired like others.
func TestOtherJournalsAreRepairedAndUndone(t *testing.T) {
	slow(t)
	for _, name := range []string{"wal-clean", "hot-journal", "wal-orphaned"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sick(t, name)
			before := s.contents()
			s.do(s.repair(FTS))
			wantSame(t, "repaired", before, s.contents())
			s.wantClean()
			s.do(s.undoAction())
			wantSame(t, "undone", before, s.contents())
		})
	}
}

func TestAnIndexThatWasMissingIsMissingAgain(t *testing.T) {
	slow(t)
	s := sick(t, "index-missing")
	if files := s.indexes(); len(files) > 0 {
		t.Fatalf("there is one: %v", files)
	}
	s.do(s.repair(""))
	if len(s.indexes()) == 0 {
		t.Fatal("none was built")
	}
	s.do(s.undoAction())
	if files := s.indexes(); len(files) > 0 {
		t.Errorf("left: %v", files)
	}
}
