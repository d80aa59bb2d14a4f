package chroma

import (
	"context"
	"strings"

	"castellan/palace/backend"
)

// keyChoice says which of a record's keys are read.
type keyChoice int

const (
	everyKey keyChoice = iota
	noDocument
	reservedOnly
)

// metadataStep bounds the records whose metadata one statement reads.
const metadataStep = 500

// metadataOf reads what is stored under the keys of some records, lists
// included. Rows of a list stay behind when Chroma deletes a collection, and
// record numbers are used again: a new record then shows the dead one's list.
// That is what Chroma answers too, so it is what is answered here.
func (sc *scope) metadataOf(ctx context.Context, ids idSet, keys keyChoice) (map[int64]backend.Metadata, error) {
	out := make(map[int64]backend.Metadata, len(ids))
	for len(ids) > 0 {
		step := ids[:min(metadataStep, len(ids))]
		ids = ids[len(step):]
		if err := sc.scalars(ctx, step, keys, out); err != nil {
			return nil, sc.c.damaged("embedding_metadata", err)
		}
		if keys != reservedOnly {
			if err := sc.lists(ctx, step, out); err != nil {
				return nil, sc.c.damaged("embedding_metadata_array", err)
			}
		}
	}
	return out, nil
}

func (sc *scope) scalars(ctx context.Context, ids idSet, keys keyChoice, out map[int64]backend.Metadata) error {
	which := map[keyChoice]string{
		noDocument:   " AND m.key <> '" + documentKey + "'",
		reservedOnly: " AND m.key IN ('" + documentKey + "', '" + uriKey + "')",
	}[keys]
	return sc.eachValue(ctx, "SELECT m.id, m.key, "+
		sc.s.pick("embedding_metadata", "m", "string_value", "int_value", "float_value", "bool_value")+
		" FROM embedding_metadata m WHERE m.id IN (SELECT value FROM json_each(?))"+which, ids,
		func(m backend.Metadata, key string, v any) { m[key] = v }, out)
}

// lists adds list metadata, one row an element, in the order of their rows.
func (sc *scope) lists(ctx context.Context, ids idSet, out map[int64]backend.Metadata) error {
	if !sc.s.hasColumn("embedding_metadata_array", "key") {
		return nil
	}
	return sc.eachValue(ctx, "SELECT m.id, m.key, "+
		sc.s.pick("embedding_metadata_array", "m", "string_value", "int_value", "float_value", "bool_value")+
		" FROM embedding_metadata_array m WHERE m.id IN (SELECT value FROM json_each(?)) ORDER BY m.id, m.key, m.rowid", ids,
		func(m backend.Metadata, key string, v any) { m[key] = appendList(m[key], v) }, out)
}

func (sc *scope) eachValue(ctx context.Context, query string, ids idSet, put func(m backend.Metadata, key string, v any), out map[int64]backend.Metadata) error {
	rows, err := sc.q.QueryContext(ctx, query, ids.json())
	if err != nil {
		return err
	}
	defer rows.Close()
	var id int64
	var key any
	var c cell
	dest := append([]any{&id, &key}, c.dest()...)
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		v := c.value()
		if v == nil {
			continue
		}
		m := out[id]
		if m == nil {
			m = backend.Metadata{}
			out[id] = m
		}
		put(m, textOr(key, ""), v)
	}
	return rows.Err()
}

// keysFor says what has to be read for the parts asked for.
func keysFor(i backend.Include) (keyChoice, bool) {
	switch {
	case i.Has(backend.Metadatas) && i.Has(backend.Documents):
		return everyKey, true
	case i.Has(backend.Metadatas):
		return noDocument, true
	case i&(backend.Documents|backend.URIs) != 0:
		return reservedOnly, true
	}
	return 0, false
}

// recordOf takes apart what is stored under one set of keys. Keys that begin
// with "chroma:" are the engine's, and no part of the metadata.
func recordOf(id string, m backend.Metadata, include backend.Include) backend.Record {
	r := backend.Record{ID: id}
	if include.Has(backend.Documents) {
		r.Document = text(m[documentKey])
	}
	if include.Has(backend.URIs) {
		r.URI = text(m[uriKey])
	}
	if !include.Has(backend.Metadatas) {
		return r
	}
	for key, v := range m {
		if strings.HasPrefix(key, reservedPrefix) {
			continue
		}
		if r.Metadata == nil {
			r.Metadata = make(backend.Metadata, len(m))
		}
		r.Metadata[key] = v
	}
	return r
}
