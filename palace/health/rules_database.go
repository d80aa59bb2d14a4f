package health

import (
	"fmt"
	"strings"

	"castellan/palace/chroma"
	"castellan/palace/dbfile"
)

// fileFindings speaks of the database file itself: journals that nobody has
// played back yet, and space it no longer uses.
func fileFindings(f dbfile.Facts, access dbfile.Access) []Finding {
	var out []Finding
	switch {
	case f.Hot:
		out = append(out, Finding{
			Code: HotJournal, Severity: Warning, Subject: f.Path,
			Cause:    "a writer died in the middle of a transaction; its journal is still to be rolled back, and this report is of a private copy where that was done",
			Evidence: map[string]any{"journal_bytes": f.Journal.Size, "access": string(access)},
			Remedy:   &Remedy{Reason: "the next program that writes rolls it back by itself; do not delete the -journal file, it holds the only good pages"},
		})
	case f.WALFrames > 0:
		out = append(out, Finding{
			Code: WALUnread, Severity: Warning, Subject: f.Path,
			Cause:    "the write-ahead log holds committed pages but its -shm file is gone; this report is of a private copy where they were recovered",
			Evidence: map[string]any{"frames": f.WALFrames, "wal_bytes": f.WAL.Size, "access": string(access)},
			Remedy:   &Remedy{Reason: "the next program that writes recovers it; do not delete the -wal file"},
		})
	}
	if missing := f.MissingBytes(); missing > 0 {
		out = append(out, Finding{
			Code: BtreeDamaged, Severity: Danger, Subject: f.Path,
			Cause:    fmt.Sprintf("the file is %s shorter than its header says", size(missing)),
			Evidence: map[string]any{"bytes": f.Size, "pages": f.Pages(), "page_size": f.PageSize},
			Remedy:   &Remedy{Action: "castellan export what can be read, then restore a backup", Reason: "pages that are not there cannot be repaired"},
		})
	}
	free := int64(f.FreePages) * int64(f.PageSize)
	if free > 16<<20 && free*4 > f.Size {
		out = append(out, Finding{
			Code: FreePages, Severity: Info, Subject: f.Path,
			Cause:    fmt.Sprintf("%s of the database file is unused and can be given back to the disk", size(free)),
			Evidence: map[string]any{"free_pages": f.FreePages, "page_size": f.PageSize, "bytes": f.Size},
			Remedy:   &Remedy{Mode: "vacuum", Reason: "SQLite reuses free pages but never shrinks a file by itself"},
		})
	}
	return out
}

// damageFindings tells what SQLite could not read, which b-tree it was, and
// what was found all the same.
func damageFindings(path string, f *chroma.Facts, check []string) []Finding {
	var questions, said []string
	around := true
	for _, u := range f.Unread {
		questions = append(questions, u.Question)
		said = append(said, u.Err.Error())
		around = around && u.Around
	}
	if len(questions) == 0 && len(check) == 0 {
		return nil
	}
	cause := "SQLite finds the database file damaged"
	if len(questions) > 0 {
		cause = "the database is damaged: " + strings.Join(questions, ", ") + " could not be read"
		if around {
			cause = "the database is damaged: " + strings.Join(questions, ", ") + " had to be read past the damage; the drawers themselves are there"
		}
	}
	evidence := map[string]any{}
	if len(said) > 0 {
		evidence["sqlite"] = said
	}
	if len(check) > 0 {
		evidence["quick_check"] = check
	}
	severity := Danger
	return []Finding{{
		Code: BtreeDamaged, Severity: severity, Subject: path, Cause: cause, Evidence: evidence,
		Remedy: &Remedy{
			Action: "castellan export", Mode: "from-sqlite",
			Reason: "any write may make it worse; what can still be read belongs in a new palace",
		},
	}}
}

func schemaFindings(path string, s chroma.SchemaFacts) []Finding {
	var out []Finding
	if len(s.Altered) > 0 {
		out = append(out, Finding{
			Code: SchemaUnknown, Severity: Bad, Subject: path,
			Cause:    "migrations of another text than Chroma's own were applied (" + strings.Join(s.Altered, ", ") + "): Chroma refuses to open the palace, a fork of it made it",
			Evidence: map[string]any{"altered": s.Altered},
			Remedy:   &Remedy{Action: "castellan export", Reason: "everything can be read and exported; only the program that made it should write it"},
		})
	}
	if len(s.Newer)+len(s.Unknown) > 0 {
		what := append(append([]string{}, s.Newer...), s.Unknown...)
		out = append(out, Finding{
			Code: SchemaUnknown, Severity: Warning, Subject: path,
			Cause:    "the palace was made by a newer Chroma than Castellan knows: " + strings.Join(what, ", "),
			Evidence: map[string]any{"versions": s.Versions, "newer": s.Newer, "unknown": s.Unknown},
			Remedy:   &Remedy{Reason: "it is read as far as that makes sense; Castellan refuses to write to it"},
		})
	}
	if len(s.MissingTables) > 0 {
		out = append(out, Finding{
			Code: SchemaUnknown, Severity: Bad, Subject: path,
			Cause:    "the database lacks tables every Chroma has: " + strings.Join(s.MissingTables, ", "),
			Evidence: map[string]any{"missing_tables": s.MissingTables},
			Remedy:   &Remedy{Reason: "it is not Chroma's, or a migration was cut short; restore a backup"},
		})
	}
	return out
}

// textFindings: a sick full-text index hides drawers from filters on text and
// from keyword search. The drawers, and vector search, are untouched by it.
func textFindings(path string, t chroma.TextFacts) []Finding {
	remedy := &Remedy{Mode: "fts", Reason: "it can be built again from the documents, which are intact"}
	if !t.Present {
		if !t.Shadows {
			return []Finding{{
				Code: FTSMissing, Severity: Bad, Subject: path,
				Cause:    "there is no full-text index: searches for words and filters on text find nothing",
				Evidence: map[string]any{"declared": false, "data": false}, Remedy: remedy,
			}}
		}
		return []Finding{{
			Code: FTSMissing, Severity: Bad, Subject: path,
			Cause:    "the full-text index is no longer declared, only its data is left; SQLite's quick check calls that ok",
			Evidence: map[string]any{"declared": false, "data": true}, Remedy: remedy,
		}}
	}
	var out []Finding
	switch {
	case len(t.Damage) > 0 && t.NULDocuments > 0:
		out = append(out, Finding{
			Code: FTSUnchecked, Severity: Info, Subject: path,
			Cause:    fmt.Sprintf("whether the full-text index is sound cannot be told: %s a NUL character, which versions of SQLite index differently", count(t.NULDocuments, "document")+" "+have(t.NULDocuments)),
			Evidence: map[string]any{"sqlite": t.Damage, "documents_with_nul": t.NULDocuments},
		})
	case len(t.Damage) > 0:
		out = append(out, Finding{
			Code: FTSDamaged, Severity: Bad, Subject: path,
			Cause:    "the full-text index is damaged; the drawers are intact",
			Evidence: map[string]any{"sqlite": t.Damage, "documents": deref(t.Documents)}, Remedy: remedy,
		})
	}
	if n := deref(t.NotIndexed) + deref(t.Dead) + deref(t.Differing); n > 0 {
		out = append(out, Finding{
			Code: FTSDisagrees, Severity: Bad, Subject: path,
			Cause: fmt.Sprintf("the full-text index and the documents disagree: %s not indexed, %s without a document, %s with another text",
				count(deref(t.NotIndexed), "document"), count(deref(t.Dead), "row"), count(deref(t.Differing), "row")),
			Evidence: map[string]any{
				"documents": deref(t.Documents), "rows": deref(t.Rows), "not_indexed": deref(t.NotIndexed),
				"dead": deref(t.Dead), "differing": deref(t.Differing),
			},
			Remedy: remedy,
		})
	}
	return out
}
