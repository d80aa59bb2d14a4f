package palace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"castellan/palace/backend"
)

func (h *fakeHome) examine(path string) Site {
	h.t.Helper()
	return h.manager().Examine(h.t.Context(), path)
}

func TestTheWaysOfBeingEmptyAreToldApart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.mkdir("empty")
	h.write("files/notes.txt", "x")
	h.write("unused/chroma.sqlite3", "")
	h.palace("fine", "fresh")
	unchanged(t, h.dir)
	texts := map[string]string{}
	for _, tt := range []struct {
		path  string
		state State
		kind  backend.Kind
	}{
		{"missing/palace", Missing, backend.Unknown},
		{"empty", Empty, backend.Unknown},
		{"files", Empty, backend.Unknown},
		{"unused", Empty, backend.Unknown},
		{"fine", OK, backend.Chroma},
	} {
		s := h.examine(h.path(tt.path))
		if s.State != tt.state || s.Ref.Kind != tt.kind {
			t.Errorf("%s: %s, %s (%v), want %s, %s", tt.path, s.State, s.Ref.Kind, s.Err, tt.state, tt.kind)
		}
		text := strings.ReplaceAll(s.Explain(), s.Ref.Path, "PATH")
		if other, ok := texts[text]; ok {
			t.Errorf("%s and %s are both explained by %q", tt.path, other, text)
		}
		texts[text] = tt.path
		for _, word := range []string{"corrupt", "damaged"} {
			if strings.Contains(text, word) {
				t.Errorf("%s: %q", tt.path, text)
			}
		}
	}
	s := h.examine(h.path("missing/palace"))
	var gone *NotFoundError
	if !errors.As(s.Err, &gone) || gone.Nearest != h.dir || !errors.Is(s.Err, fs.ErrNotExist) {
		t.Errorf("missing: %v", s.Err)
	}
	if s := h.examine(h.path("unused")); !hasNote(s.Notes, NoteNeverUsed) {
		t.Errorf("unused: notes %v", s.Notes)
	}
}

func TestEmptyDatabaseBesideSegmentsIsNeverTakenForANewOne(t *testing.T) {
	t.Parallel()
	for _, absent := range []bool{false, true} {
		h := newHome(t)
		p := h.palace("p", "healthy")
		db := filepath.Join(p, "chroma.sqlite3")
		must(t, os.Remove(db))
		if !absent {
			must(t, os.WriteFile(db, nil, 0o600))
		}
		unchanged(t, p)
		s := h.examine(p)
		var empty *EmptyDatabaseError
		if s.State != Unreadable || !errors.As(s.Err, &empty) {
			t.Fatalf("state %s, %v", s.State, s.Err)
		}
		if len(empty.Segments) != 2 || empty.Absent != absent || s.Ref.Kind != backend.Chroma {
			t.Errorf("%+v, kind %s", empty, s.Ref.Kind)
		}
		if !strings.Contains(s.Explain(), "do not open it with mempalace") {
			t.Errorf("%q gives no warning", s.Explain())
		}
	}
}

func TestFileThatIsNoDatabaseIsNamedWithTheSegmentsThatRemain(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.palace("p", "healthy")
	f, err := os.OpenFile(filepath.Join(p, "chroma.sqlite3"), os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(make([]byte, 100), 0)
	must(t, errors.Join(err, f.Close()))
	unchanged(t, p)
	s := h.examine(p)
	var not *NotADatabaseError
	if s.State != Unreadable || !errors.As(s.Err, &not) {
		t.Fatalf("state %s, %v", s.State, s.Err)
	}
	want := []string{filepath.Join(p, "a46b713a-b3f0-4100-a0e9-f71e70d8f6ca"), filepath.Join(p, "adc144cf-4c5b-40f3-ac90-5e3b70902c5b")}
	if diff := cmp.Diff(want, not.Segments); diff != "" {
		t.Error(diff)
	}
	if s.Ref.Kind != backend.Chroma {
		t.Errorf("kind %s", s.Ref.Kind)
	}
}

func TestEngineComesFromArtifactAndMagic(t *testing.T) {
	t.Parallel()
	db, err := os.ReadFile("../testdata/palaces/empty/palace/chroma.sqlite3")
	must(t, err)
	sqlite := string(db)
	tests := []struct {
		name  string
		files map[string]string
		kind  backend.Kind
		state State
		note  NoteKind
	}{
		{"chroma", map[string]string{"chroma.sqlite3": sqlite}, backend.Chroma, OK, ""},
		{"exact", map[string]string{"sqlite_exact.sqlite3": sqlite}, backend.SQLiteExact, OK, ""},
		{"exact beside the leftover of a bare connect", map[string]string{"sqlite_exact.sqlite3": sqlite, "chroma.sqlite3": ""}, backend.SQLiteExact, OK, ""},
		{"exact beside garbage", map[string]string{"sqlite_exact.sqlite3": sqlite, "chroma.sqlite3": "garbage"}, backend.SQLiteExact, OK, NoteUnreadablePart},
		{"both", map[string]string{"sqlite_exact.sqlite3": sqlite, "chroma.sqlite3": sqlite}, backend.Chroma, OK, NoteTwoBackends},
		{"qdrant", map[string]string{"qdrant_backend.json": "{}"}, backend.Qdrant, OK, ""},
		{"pgvector", map[string]string{"pgvector_backend.json": "{}"}, backend.PGVector, OK, ""},
		{"milvus", map[string]string{"milvus_backend.json": "{}", "milvus.db": "x"}, backend.Milvus, OK, ""},
		{"milvus without its marker", map[string]string{"milvus.db": "x"}, backend.Milvus, OK, ""},
		{"garbage", map[string]string{"chroma.sqlite3": "garbage"}, backend.Chroma, Unreadable, ""},
		{"cut in the header", map[string]string{"chroma.sqlite3": sqlite[:40]}, backend.Chroma, Unreadable, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			for name, text := range tt.files {
				h.write("p/"+name, text)
			}
			s := h.examine(h.path("p"))
			if s.Ref.Kind != tt.kind || s.State != tt.state {
				t.Errorf("%s, %s (%v), want %s, %s", s.Ref.Kind, s.State, s.Err, tt.kind, tt.state)
			}
			if tt.note != "" != (len(s.Notes) > 0) || tt.note != "" && !hasNote(s.Notes, tt.note) {
				t.Errorf("notes %+v, want %q", s.Notes, tt.note)
			}
		})
	}
}

func TestLayoutKnowsEveryNameMemPalaceGives(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.palace("d/p", "synced")
	const seg = "ed5a97e5-ec23-4c4c-8b23-b55d86f8dc35"
	h.write("d/p/"+seg+".drift-20260102-030405/data_level0.bin", "12345")
	h.write("d/p/"+seg+".corrupt-20260203-040506/header.bin", "123")
	h.write("d/p/chroma.sqlite3.backup", "x")
	h.write("d/p/chroma.sqlite3.backup.20260304_050607.77", "xx")
	h.write("d/p/chroma.sqlite3.max-seq-id-backup-20260405-060708", "xxx")
	h.write("d/p/.blob_seq_ids_migrated", "")
	h.write("d/p/.collection_type_fixed", "")
	h.write("d/p/corrupt_ids.txt", "a\nb\n")
	h.write("d/p/knowledge_graph.sqlite3-wal", "xxxx")
	h.write("d/p/mempalace_embedder.json", `{"mempalace_drawers": {"model_name": "minilm", "dimension": 384}, "odd": 3, "nameless": {"dimension": 3}}`)
	h.write("d/p/README", "x")
	h.write("d/tunnels.json", "[]")
	h.write("d/hallways.json.imported-20260102", "{}")
	h.palace("d/p.backup", "fresh")
	h.palace("d/p.pre-rebuild-20260506-070809", "fresh")
	h.palace("d/p.pre-migrate.20260607_080910", "fresh")
	h.palace("d/p.old", "fresh")
	h.palace("d/p2.backup", "fresh")
	h.palace("d/p.notes", "fresh")
	unchanged(t, h.dir)
	l := h.examine(p).Layout

	if len(l.Segments) != 1 || l.Segments[0].ID != seg || l.Segments[0].Files["header.bin"].Apparent != 100 {
		t.Errorf("segments %+v", l.Segments)
	}
	type q struct {
		reason string
		at     time.Time
		bytes  int64
	}
	var quarantined []q
	for _, x := range l.Quarantined {
		quarantined = append(quarantined, q{x.Reason, x.At, x.Size.Apparent})
	}
	wantQ := []q{
		{"corrupt", time.Date(2026, 2, 3, 4, 5, 6, 0, time.Local), 3},
		{"drift", time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), 5},
	}
	if diff := cmp.Diff(wantQ, quarantined, cmp.AllowUnexported(q{})); diff != "" {
		t.Error(diff)
	}
	got := map[string]BackupKind{}
	for _, b := range l.Backups {
		rel, err := filepath.Rel(h.path("d"), b.Path)
		must(t, err)
		got[filepath.ToSlash(rel)] = b.Kind
		if b.Size.Apparent == 0 || b.At.IsZero() != (strings.HasSuffix(b.Path, "backup") || strings.HasSuffix(b.Path, "old")) {
			t.Errorf("backup %+v", b)
		}
	}
	if diff := cmp.Diff(map[string]BackupKind{
		"p/chroma.sqlite3.backup": BackupRepair, "p/chroma.sqlite3.backup.20260304_050607.77": BackupRepair,
		"p/chroma.sqlite3.max-seq-id-backup-20260405-060708": BackupMaxSeqID,
		"p.backup": BackupRepair, "p.pre-rebuild-20260506-070809": BackupRebuild,
		"p.pre-migrate.20260607_080910": BackupMigrate, "p.old": BackupSwap,
	}, got); diff != "" {
		t.Error(diff)
	}
	var sides []string
	for _, s := range l.Sidecars {
		if s.Size.Apparent == 0 {
			t.Errorf("sidecar %+v has no size", s)
		}
		sides = append(sides, s.Name+map[bool]string{true: " beside", false: ""}[s.Beside])
	}
	slices.Sort(sides)
	if diff := cmp.Diff([]string{"hallways.json beside", "knowledge_graph.sqlite3", "mempalace_embedder.json", "tunnels.json beside"}, sides); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{".blob_seq_ids_migrated", ".collection_type_fixed"}, l.Markers); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]Embedder{"mempalace_drawers": {"minilm", 384}}, l.Embedders); diff != "" || l.EmbeddersErr != nil {
		t.Error(diff, l.EmbeddersErr)
	}
	if l.CorruptIDs == nil || l.CorruptIDs.Size.Apparent != 4 || l.Others != 1 {
		t.Errorf("corrupt ids %+v, others %d", l.CorruptIDs, l.Others)
	}
}

func TestUnreadableEmbedderFileIsAnErrorAndNotNoEmbedder(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.palace("p", "fresh")
	h.write("p/mempalace_embedder.json", `{"a": `)
	if l := h.examine(p).Layout; l.EmbeddersErr == nil || l.Embedders != nil {
		t.Errorf("%v, %v", l.Embedders, l.EmbeddersErr)
	}
}

func TestSizeIsTheSumOfAllFiles(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.palace("p", "healthy")
	var want Size
	must(t, filepath.WalkDir(p, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		want.Apparent += info.Size()
		want.Files++
		return err
	}))
	s := h.examine(p)
	if s.Size.Apparent != want.Apparent || s.Size.Files != want.Files || s.Size.Allocated < want.Apparent/2 {
		t.Errorf("got %+v, want %+v", s.Size, want)
	}
}

func TestSynchronisedFoldersAreUnsafe(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, tt := range []struct{ path, marker, service string }{
		{"Dropbox/p", "", "Dropbox"},
		{"Dropbox (Personal)/p", "", "Dropbox"},
		{"OneDrive - Company/p", "", "OneDrive"},
		{"Google Drive/p", "", "Google Drive"},
		{"Library/Mobile Documents/com~apple~CloudDocs/p", "", "iCloud Drive"},
		{"Library/CloudStorage/Box-Box/p", "", "Box-Box"},
		{"things/deep/p", "things/.stfolder/x", "Syncthing"},
		{"DropboxNot/p", "", ""},
	} {
		p := h.palace(tt.path, "fresh")
		if tt.marker != "" {
			h.write(tt.marker, "")
		}
		_, service := syncedBy(p)
		if service != tt.service {
			t.Errorf("%s: %q, want %q", tt.path, service, tt.service)
		}
		if got := hasNote(h.examine(p).Notes, NoteUnsafe); got != (tt.service != "") {
			t.Errorf("%s: unsafe %v", tt.path, got)
		}
	}
}

func TestALinkAndItsTargetHaveOneIdentity(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.palace("p", "fresh")
	must(t, os.Symlink(p, h.path("link")))
	a, b := h.examine(p), h.examine(h.path("link"))
	if a.Ref.ID != b.Ref.ID || a.Ref.ID.IsZero() || b.Ref.Real != p {
		t.Errorf("%+v and %+v", a.Ref, b.Ref)
	}
	if !slices.Contains(b.LockPaths(), p) || !slices.Contains(b.LockPaths(), h.path("link")) {
		t.Errorf("lock paths %v", b.LockPaths())
	}
}

func TestAPalaceBehindALinkHasItsFullSize(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.palace("real", "fresh")
	must(t, os.Symlink(p, h.path("link")))
	direct, linked := h.examine(p), h.examine(h.path("link"))
	if linked.Size != direct.Size || direct.Size.Apparent == 0 {
		t.Errorf("%+v through the link, %+v directly", linked.Size, direct.Size)
	}
}

func TestCopiesBesideALinkAndBesideItsTargetAreBothKnown(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := h.palace("data/p", "fresh")
	h.palace("data/p.old", "fresh")
	h.palace("link.backup", "fresh")
	must(t, os.Symlink(p, h.path("link")))
	var got []string
	for _, b := range h.examine(h.path("link")).Layout.Backups {
		got = append(got, b.Path)
	}
	if diff := cmp.Diff([]string{h.path("data/p.old"), h.path("link.backup")}, got); diff != "" {
		t.Error(diff)
	}
}
