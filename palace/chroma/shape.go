package chroma

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"castellan/palace/backend"
)

// shape is which tables and columns a database has. Ten years of Chroma
// versions differ in them: 0.4 knows neither databases nor schema_str, lists
// in metadata came with 1.5.
type shape struct {
	columns map[string][]string
}

// readShape asks for every table's columns at once.
func readShape(ctx context.Context, q querier) (shape, error) {
	rows, err := q.QueryContext(ctx, `SELECT m.name, p.name FROM sqlite_master m
		JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE 'embedding_fulltext%'`)
	if err != nil {
		return shape{}, err
	}
	defer rows.Close()
	s := shape{columns: map[string][]string{}}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return shape{}, err
		}
		s.columns[table] = append(s.columns[table], column)
	}
	return s, rows.Err()
}

// empty says that the database has no table yet: nobody has used it.
func (s shape) empty() bool { return len(s.columns) == 0 }

func (s shape) has(table string) bool { return s.columns[table] != nil }

func (s shape) hasColumn(table, column string) bool {
	return slices.Contains(s.columns[table], column)
}

// need refuses a database that lacks a table or a column that no version of
// Chroma did without. What is missing is named, because a database of another
// program, or of a future Chroma, must not be answered for with zeros.
func (s shape) need(path, table string, columns ...string) error {
	if !s.has(table) {
		return &backend.SchemaError{Path: path, Detail: fmt.Sprintf("it has no table %q", table)}
	}
	for _, c := range columns {
		if !s.hasColumn(table, c) {
			return &backend.SchemaError{Path: path, Detail: fmt.Sprintf("table %q has no column %q", table, c)}
		}
	}
	return nil
}

// pick writes the select list of a table: columns that this database does not
// have are asked for as NULL.
func (s shape) pick(table, alias string, columns ...string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = "NULL"
		if s.hasColumn(table, c) {
			list[i] = alias + "." + c
		}
	}
	return strings.Join(list, ", ")
}
