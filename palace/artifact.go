package palace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

const (
	chromaFile = "chroma.sqlite3"
	exactFile  = "sqlite_exact.sqlite3"
)

// artifactFiles are the files by which MemPalace recognises an engine, in the
// order in which it is preferred here when there are several.
var artifactFiles = []struct {
	name   string
	kind   backend.Kind
	sqlite bool
}{
	{chromaFile, backend.Chroma, true},
	{exactFile, backend.SQLiteExact, true},
	{"qdrant_backend.json", backend.Qdrant, false},
	{"pgvector_backend.json", backend.PGVector, false},
	{"milvus_backend.json", backend.Milvus, false},
	{"milvus.db", backend.Milvus, false},
}

// Artifact is a file that marks a directory as a palace of one engine.
type Artifact struct {
	Kind backend.Kind
	Path string
	// Facts are what the header and the sidecars of a SQLite file say; nil
	// for the markers of other engines and when nothing could be read.
	Facts *dbfile.Facts
	// Err says why the file does not count; nil when it does.
	Err error
}

// artifactsIn looks at every artifact in dir. Being there is not enough: a
// bare connect leaves an empty chroma.sqlite3 in any directory (MemPalace
// #1893), so a database has to begin as SQLite's do.
func artifactsIn(ctx context.Context, dir string) []Artifact {
	var list []Artifact
	for _, f := range artifactFiles {
		path := filepath.Join(dir, f.name)
		_, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		a := Artifact{Kind: f.kind, Path: path}
		switch {
		case err != nil:
			a.Err = explain(path, err)
		case f.sqlite:
			facts, err := dbfile.Inspect(ctx, path)
			if facts.Size > 0 || err == nil {
				a.Facts = &facts
			}
			a.Err = err
		default:
			if info, err := os.Stat(path); err != nil {
				a.Err = explain(path, err)
			} else if !info.Mode().IsRegular() && f.name != "milvus.db" {
				a.Err = &WrongKindError{Path: path, Want: "a regular file", Got: kindName(info.Mode())}
			}
		}
		list = append(list, a)
	}
	return list
}

// looksLikePalace is the cheap question, for directories nobody named: is
// there an artifact that is not empty? Nothing is opened.
func looksLikePalace(dir string) bool {
	for _, f := range artifactFiles {
		info, err := os.Stat(filepath.Join(dir, f.name))
		if err == nil && (info.Mode().IsRegular() && info.Size() > 0 || f.name == "milvus.db") {
			return true
		}
	}
	return false
}

// problemOf is the verdict on a SQLite file's content; empty when there is
// none.
func problemOf(err error) dbfile.Problem {
	var fe *dbfile.FileError
	if errors.As(err, &fe) {
		return fe.Problem
	}
	return ""
}
