package palace

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Sidecar is a file of MemPalace's that belongs to a palace without being
// part of its database.
type Sidecar struct {
	File
	// Name is the file's usual name, which Path may carry suffixes of.
	Name string
	// Beside reports that it lies in the directory above, where all palaces
	// of that directory share it.
	Beside bool
}

// sidecarNames are the files MemPalace keeps; the names of databases stand
// for their -wal and -shm too, which belong to them.
var sidecarNames = []string{
	"knowledge_graph.sqlite3",
	"tunnels.json",
	"hallways.json",
	"hallways.sqlite3",
	"logstream.sqlite3",
	embedderFile,
}

const embedderFile = "mempalace_embedder.json"

// sidecarName tells which sidecar a file is or belongs to.
func sidecarName(file string) (string, bool) {
	for _, name := range sidecarNames {
		rest, ok := strings.CutPrefix(file, name)
		if !ok {
			continue
		}
		switch {
		case rest == "", rest == "-wal", rest == "-shm", rest == "-journal",
			strings.HasPrefix(rest, ".imported-"), strings.HasPrefix(rest, ".corrupt-"):
			return name, true
		}
	}
	return "", false
}

// Embedder is the model that a collection's vectors were made with, as
// MemPalace recorded it.
type Embedder struct {
	Model     string
	Dimension int // 0 when it is not recorded
}

// readEmbedders reads mempalace_embedder.json: for each collection an object
// with model_name and dimension. Entries without a model say nothing.
func readEmbedders(palace string) (map[string]Embedder, error) {
	path := filepath.Join(palace, embedderFile)
	b, err := readSmallFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(path, err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, fmt.Errorf("%s is not a JSON object of collections: %w; mempalace will treat the embedder as unrecorded", path, err)
	}
	out := make(map[string]Embedder, len(raw))
	for name, v := range raw {
		var entry struct {
			Model     string  `json:"model_name"`
			Dimension float64 `json:"dimension"`
		}
		if json.Unmarshal(v, &entry) != nil || entry.Model == "" {
			continue
		}
		out[name] = Embedder{Model: entry.Model, Dimension: int(min(max(entry.Dimension, 0), 1<<20))}
	}
	return out, nil
}

// RecordedModel is the model that MemPalace recorded beside the database for a
// collection; empty where it did not, or where its record cannot be read, which
// MemPalace takes for the same.
func (p *Palace) RecordedModel(collection string) string {
	models, err := readEmbedders(p.ref.Path)
	if err != nil {
		return ""
	}
	return models[collection].Model
}

// besidePalace looks at the directory above a palace: at the sidecars that
// lie there by their names, and at the copies of the palace. MemPalace derives
// both places from the path that it was given, so a link to a palace has a
// neighbourhood of its own.
func besidePalace(ctx context.Context, path string, l *Layout, w *walker) {
	parent, base := filepath.Dir(path), filepath.Base(path)
	if parent == path {
		return
	}
	for _, name := range listSome(ctx, parent, maxSiblings) {
		path := filepath.Join(parent, name)
		if side, ok := sidecarName(name); ok && side != embedderFile && side != "logstream.sqlite3" {
			if f, ok := fileAt(path, w); ok && !slices.ContainsFunc(l.Sidecars, func(s Sidecar) bool { return s.Path == path }) {
				l.Sidecars = append(l.Sidecars, Sidecar{File: f, Name: side, Beside: true})
			}
			continue
		}
		if kind, at, ok := palaceBackup(base, name); ok {
			if f, ok := fileAt(path, w); ok && !slices.ContainsFunc(l.Backups, func(b Backup) bool { return b.Path == path }) {
				l.Backups = append(l.Backups, Backup{File: f, Kind: kind, At: at})
			}
		}
	}
}

// fileAt measures one entry, a directory with all that is in it.
func fileAt(path string, w *walker) (File, bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return File{}, false
	}
	return File{Path: path, Size: w.measure(path), ModTime: info.ModTime()}, true
}

// listSome reads the names in a directory, at most limit of them, sorted. A
// directory that cannot be read has none.
func listSome(ctx context.Context, dir string, limit int) []string {
	f, err := os.OpenFile(dir, os.O_RDONLY|openNonBlocking, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	var names []string
	for len(names) < limit && ctx.Err() == nil {
		some, err := f.Readdirnames(min(256, limit-len(names)))
		names = append(names, some...)
		if err != nil {
			break
		}
	}
	return sorted(names)
}
