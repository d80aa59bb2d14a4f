package chroma

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// migrationHashes are the md5 sums of the migrations of Chroma 1.5.9, by set and
// version from 1. Chroma compares each with its own when it opens a palace, and
// refuses one where a fork changed a migration. A palace with more of them was
// made by a newer Chroma: it is read as far as it makes sense and never written.
var migrationHashes = map[string][]string{
	"embeddings_queue": {
		"d3755dfd232be8e8301f4d7fcfb3a486",
		"8fbfe4ffb3e57f1d8bfdc58510a82e85",
	},
	"metadb": {
		"2b4cf52c4bb2676e21d6860a4409f856",
		"12a570f7121b3a8ce750a2a7c36da20f",
		"f97ad6334aeaa8f419f01110b648b97a",
		"fb36603a45ee2cd0254cef3ef86585e8",
		"0e9de46758761b373ce682925edcc326",
		"e026f01ea92c1baa1493f4ad5ca7cfe7",
	},
	"sysdb": {
		"38352d725ad1c16074fac420b22b4633",
		"2913cb6a503055a95f625448037e8912",
		"42d22d0574d31d419c2a0e7f625c93aa",
		"048867ce8fcdefe4023c7110e4433591",
		"b1367c826b8fba5f96f27befdc1d42d2",
		"4eea7468935bf25d4604a0fed2366116",
		"1c7e63bba346a42a18b6ab7f1c989bed",
		"0a0e7e93111a01789addf64961c6127c",
		"054355aef9e63702bf54ea29e61563f1",
		"5c3a5ac4b79df76799b4721827ed5e1d",
	},
}

// SchemaFacts says how the database's shape compares to the one known.
type SchemaFacts struct {
	// Versions is the newest applied migration of each set.
	Versions map[string]int64
	// Newer and Unknown name sets that are ahead or not known at all; Older
	// those that Chroma will migrate when it opens the palace.
	Newer, Unknown, Older []string
	// Altered names applied migrations of another text than Chroma's own, which
	// therefore refuses the palace.
	Altered []string
	// MissingTables are tables without which no answer is whole.
	MissingTables []string
}

// Known reports that nothing about the schema is ahead of Castellan.
func (s SchemaFacts) Known() bool {
	return len(s.Newer) == 0 && len(s.Unknown) == 0 && len(s.Altered) == 0
}

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
	rows, err := q.QueryContext(ctx, "SELECT t.dir, t.version, "+s.pick("migrations", "t", "hash")+" FROM migrations t ORDER BY t.dir, t.version")
	if err != nil {
		return f, err
	}
	defer rows.Close()
	for rows.Next() {
		var dir, version, hash any
		if err := rows.Scan(&dir, &version, &hash); err != nil {
			return f, err
		}
		n, _ := version.(int64)
		f.add(textOr(dir, ""), n, textOr(hash, ""))
	}
	if err := rows.Err(); err != nil {
		return f, err
	}
	f.compare()
	return f, nil
}

func (f *SchemaFacts) add(dir string, version int64, hash string) {
	f.Versions[dir] = max(f.Versions[dir], version)
	known := migrationHashes[dir]
	if version < 1 || version > int64(len(known)) {
		return
	}
	// Chroma can be configured to sum by sha256, which is longer.
	if want := known[version-1]; len(hash) == len(want) && hash != want {
		f.Altered = append(f.Altered, fmt.Sprintf("%s %d", dir, version))
	}
}

// compare holds the newest version of each set against those known.
func (f *SchemaFacts) compare() {
	for _, dir := range slices.Sorted(maps.Keys(f.Versions)) {
		version, known := f.Versions[dir], int64(len(migrationHashes[dir]))
		switch {
		case known == 0:
			f.Unknown = append(f.Unknown, dir)
		case version > known:
			f.Newer = append(f.Newer, fmt.Sprintf("%s %d (known up to %d)", dir, version, known))
		case version < known:
			f.Older = append(f.Older, dir)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(migrationHashes)) {
		if _, ok := f.Versions[dir]; !ok {
			f.Older = append(f.Older, dir)
		}
	}
}
