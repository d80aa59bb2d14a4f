package chroma

import (
	"context"
	"fmt"
	"slices"
)

// knownMigrations are the newest versions of each set that Castellan was
// written against (Chroma 1.5.9). A palace with more was made by a newer
// Chroma: it is read as far as it makes sense and never written.
var knownMigrations = map[string]int64{"sysdb": 10, "metadb": 6, "embeddings_queue": 2}

// SchemaFacts says how the database's shape compares to the one known.
type SchemaFacts struct {
	// Versions is the newest applied migration of each set.
	Versions map[string]int64
	// Newer and Unknown name sets that are ahead or not known at all; Older
	// those that Chroma will migrate when it opens the palace.
	Newer, Unknown, Older []string
	// MissingTables are tables without which no answer is whole.
	MissingTables []string
}

// Known reports that nothing about the schema is ahead of Castellan.
func (s SchemaFacts) Known() bool { return len(s.Newer) == 0 && len(s.Unknown) == 0 }

var neededTables = []string{
	"collections", "segments", "embeddings", "embedding_metadata", "embeddings_queue", "max_seq_id",
}

func readSchema(ctx context.Context, q querier, s shape) (SchemaFacts, error) {
	f := SchemaFacts{Versions: map[string]int64{}}
	if s.empty() {
		return f, nil
	}
	for _, t := range neededTables {
		if !s.has(t) {
			f.MissingTables = append(f.MissingTables, t)
		}
	}
	if !s.hasColumn("migrations", "dir") || !s.hasColumn("migrations", "version") {
		f.MissingTables = append(f.MissingTables, "migrations")
		return f, nil
	}
	rows, err := q.QueryContext(ctx, "SELECT dir, max(version) FROM migrations GROUP BY dir ORDER BY dir")
	if err != nil {
		return f, err
	}
	defer rows.Close()
	for rows.Next() {
		var dir, version any
		if err := rows.Scan(&dir, &version); err != nil {
			return f, err
		}
		name, _ := version.(int64)
		f.add(textOr(dir, ""), name)
	}
	for dir := range knownMigrations {
		if _, ok := f.Versions[dir]; !ok {
			f.Older = append(f.Older, dir)
		}
	}
	slices.Sort(f.Older)
	return f, rows.Err()
}

func (f *SchemaFacts) add(dir string, version int64) {
	f.Versions[dir] = version
	known, ok := knownMigrations[dir]
	switch {
	case !ok:
		f.Unknown = append(f.Unknown, dir)
	case version > known:
		f.Newer = append(f.Newer, fmt.Sprintf("%s %d (known up to %d)", dir, version, known))
	case version < known:
		f.Older = append(f.Older, dir)
	}
}
