package health

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/chroma"
	"castellan/palace/dbfile"
)

// later are the codes that no rule of a look at a palace raises: they belong to
// the server and to writes.
var later = []string{"server-unreachable", "write-outcome-unknown"}

func TestEveryCodeIsRaisedByARuleAndATest(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("finding.go")
	if err != nil {
		t.Fatal(err)
	}
	var rules, tests strings.Builder
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case f == "finding.go":
		case strings.HasSuffix(f, "_test.go"):
			tests.Write(b)
		default:
			rules.Write(b)
		}
	}
	for _, m := range regexp.MustCompile(`(\w+)\s+Code = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
		word := regexp.MustCompile(`\b` + m[1] + `\b`)
		if slices.Contains(later, m[2]) {
			continue
		}
		if !word.MatchString(rules.String()) {
			t.Errorf("no rule raises %s", m[2])
		}
		if !word.MatchString(tests.String()) {
			t.Errorf("no test sees %s", m[2])
		}
	}
}

func severities(list []Finding) map[Code]Severity {
	m := map[Code]Severity{}
	for _, f := range list {
		m[f.Code] = f.Severity
	}
	return m
}

func holder(idle *float64, state string, orphan bool) locks.Holder {
	h := locks.Holder{IdleSeconds: idle}
	h.PID, h.State, h.Orphan = 7, state, orphan
	return h
}

func TestHoldersAreToldByWhatTheyDo(t *testing.T) {
	t.Parallel()
	idle, busy := 3600.0, 1.0
	for name, c := range map[string]struct {
		holder locks.Holder
		want   Code
	}{
		"idle":      {holder(&idle, "S", false), HolderIdle},
		"suspended": {holder(&idle, "T", false), HolderStuck},
		"waiting":   {holder(&busy, "D", false), HolderStuck},
		"orphan":    {holder(&busy, "R", true), HolderOrphan},
	} {
		got := severities(lockFindings(locks.PalaceView{Lock: locks.PalaceLock{State: locks.Held, Holder: &c.holder}}, "/p"))
		if got[c.want] != Warning || got[LockHeld] != Info {
			t.Errorf("%s: %v", name, got)
		}
		if c.want == HolderStuck && got[HolderIdle] != "" {
			t.Errorf("%s: stuck and idle at once", name)
		}
	}
	other := locks.PalaceView{Lock: locks.PalaceLock{State: locks.Free}, Others: []locks.PalaceLock{{State: locks.Held, Holder: ptr(holder(nil, "S", false))}}}
	if got := severities(lockFindings(other, "/p")); got[LockKeyDiffers] != Warning {
		t.Errorf("%v", got)
	}
	server := locks.Opener{Files: []locks.OpenFile{{Path: "/p/chroma.sqlite3", Writable: true, Moved: true}}}
	server.PID, server.Role = 8, locks.RoleChroma
	got := severities(lockFindings(locks.PalaceView{Openers: []locks.Opener{server}}, "/p"))
	if got[ServerOwnsDirectory] != Warning || got[PalaceMovedWhileOpen] != Warning {
		t.Errorf("%v", got)
	}
}

func TestNotesOfASiteBecomeFindings(t *testing.T) {
	t.Parallel()
	got := severities(siteFindings(&palace.Site{Notes: []palace.Note{
		{Kind: palace.NoteUnsafe, Path: "/p", Text: "on a network"},
		{Kind: palace.NoteReadOnly, Path: "/p", Text: "read only"},
		{Kind: palace.NoteConfig, Path: "/c", Text: "no JSON"},
		{Kind: palace.NoteUnreadablePart, Path: "/p/x", Text: "closed"},
	}}))
	for code, want := range map[Code]Severity{UnsafeFilesystem: Warning, ReadOnly: Info, ConfigUnreadable: Warning, PermissionDenied: Warning} {
		if got[code] != want {
			t.Errorf("%s is %q, not %s", code, got[code], want)
		}
	}
}

func TestSpaceOnTheDiskAndInTheFileIsTold(t *testing.T) {
	t.Parallel()
	if got := severities(diskFindings("/p", 1<<30, 1<<30)); got[DiskLow] != Info {
		t.Errorf("%v", got)
	}
	if got := severities(diskFindings("/p", 1<<30, 1<<20)); got[DiskLow] != Warning {
		t.Errorf("%v", got)
	}
	if got := diskFindings("/p", 1<<30, 8<<30); got != nil {
		t.Errorf("%v", got)
	}
	f := dbfile.Facts{Size: 100 << 20}
	f.PageSize, f.FreePages = 4096, 10_000
	if got := severities(fileFindings(f, dbfile.AccessRO)); got[FreePages] != Info {
		t.Errorf("%v", got)
	}
	f.FreePages = 100
	if got := severities(fileFindings(f, dbfile.AccessRO)); got[FreePages] != "" {
		t.Errorf("%v", got)
	}
}

func TestCopiesBesideAPalaceAreTold(t *testing.T) {
	t.Parallel()
	s := &palace.Site{}
	s.Layout.Backups = []palace.Backup{{File: palace.File{Path: "/p.backup"}}, {File: palace.File{Path: "/p.old"}, Kind: palace.BackupSwap}}
	got := severities(layoutFindings(t.Context(), s, &chroma.Facts{}, Full, time.Now()))
	if got[BackupPresent] != Info || got[RebuildUnfinished] != Warning {
		t.Errorf("%v", got)
	}
}

func change(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "chroma.sqlite3"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func TestAFullTextIndexWithBadWordsIsDamagedAndNothingElseIs(t *testing.T) {
	t.Parallel()
	dir := makeSpecimen(t, "never-flushed")
	change(t, dir, "DELETE FROM embedding_fulltext_search_docsize WHERE id = 2")
	r := reportOn(t, dir, Full)
	if got := severities(r.Findings); got[FTSDamaged] != Bad || got[FTSDisagrees] != "" || got[BtreeDamaged] != "" || *r.Collections[0].Rows != 5 {
		t.Errorf("%v", got)
	}
	dir = makeSpecimen(t, "never-flushed")
	change(t, dir, "DELETE FROM embedding_fulltext_search_docsize WHERE id = 2")
	change(t, dir, "INSERT INTO embedding_metadata(id, key, string_value) VALUES(900, 'chroma:document', 'a' || char(0) || 'b')")
	if got := severities(reportOn(t, dir, Full).Findings); got[FTSUnchecked] != Info || got[FTSDamaged] != "" {
		t.Errorf("%v", got)
	}
}

func TestAnUnreadablePickleAndAnUnnamedModelAreTold(t *testing.T) {
	t.Parallel()
	dir := makeSpecimen(t, "dimensionality-none")
	if got := severities(reportOn(t, dir, Sampled).Findings); got[EmbedderUnrecorded] != Info {
		t.Errorf("%v", got)
	}
	pickles, err := filepath.Glob(filepath.Join(dir, "*", "index_metadata.pickle"))
	if err != nil || len(pickles) != 1 {
		t.Fatal(pickles, err)
	}
	if err := os.WriteFile(pickles[0], []byte("\x80\x03K\x01."), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := severities(reportOn(t, dir, Sampled).Findings); got[IndexMetadataUnreadable] != Danger {
		t.Errorf("%v", got)
	}
}
