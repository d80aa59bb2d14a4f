package chroma

import (
	"strings"
	"testing"

	"castellan/palace/backend"
)

// plan is how SQLite means to answer, one step a line.
func plan(t *testing.T, q querier, query string, args ...any) string {
	t.Helper()
	rows, err := q.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(query, err)
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var a, b, c int
		var line string
		if err := rows.Scan(&a, &b, &c, &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// What makes a page quick in a palace of 200,000 drawers.
func TestQuestionsUseTheIndexesChromaMade(t *testing.T) {
	c := collection(t, open(t, sample(t, "healthy")), "mempalace_drawers")
	err := c.view(t.Context(), func(sc *scope) error {
		for _, tc := range []struct {
			name string
			f    backend.Filter
			how  scan
			want []string
			not  string
		}{
			{"all of a wing", backend.Filter{Where: backend.Equal("wing", "x")}, wholeSets,
				[]string{"embedding_metadata_string_value (key=? AND string_value=?)"}, "SCAN m"},
			{"a number", parse(t, `{"chunk_index":{"$gt":3}}`, ""), wholeSets,
				[]string{"embedding_metadata_int_value (key=? AND int_value>?)", "embedding_metadata_float_value (key=? AND float_value>?)"}, "SCAN m"},
			{"a page of a wing", backend.Filter{Where: backend.Equal("wing", "x")}, perRecord,
				[]string{"INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "sqlite_autoindex_embedding_metadata_1 (id=? AND key=?)"}, "SCAN"},
			{"a text", parse(t, "", `{"$contains":"x"}`), wholeSets,
				[]string{"embedding_metadata_string_value (key=? AND string_value>?)"}, "SCAN m"},
		} {
			q, err := sc.ask(t.Context(), tc.f)
			if err != nil {
				return err
			}
			cond, err := q.condition(t.Context(), tc.how, 0, 1000)
			if err != nil {
				return err
			}
			base, args := q.base()
			got := plan(t, sc.q, "SELECT e.id FROM embeddings e NOT INDEXED WHERE "+base+" AND e.id > ?4 AND e.id <= ?5"+cond.and()+" ORDER BY e.id LIMIT ?6",
				cond.around(append(args, 0, 1000, 10)...)...)
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s does not use %s:\n%s", tc.name, want, got)
				}
			}
			if strings.Contains(got, tc.not) || strings.Contains(got, "TEMP B-TREE") {
				t.Errorf("%s:\n%s", tc.name, got)
			}
		}
		got := plan(t, sc.q, "SELECT string_value, count(*) FROM embedding_metadata WHERE key = ? AND string_value IS NOT NULL GROUP BY string_value", "wing")
		if !strings.Contains(got, "COVERING INDEX embedding_metadata_string_value") || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("wings: %s", got)
		}
		got = plan(t, sc.q, "SELECT "+queueColumns+" FROM embeddings_queue WHERE seq_id > ? AND topic = ? ORDER BY seq_id", 1, "x")
		if !strings.Contains(got, "INTEGER PRIMARY KEY (rowid>?)") || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("queue: %s", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
