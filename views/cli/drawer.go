package cli

import "castellan/palace/backend"

// drawerRow is one drawer as the drawers document lists it. A field is null
// where the drawer has no such metadata; numbers and lists that somebody
// stored under a name that is usually text stay what they are.
type drawerRow struct {
	ID         string            `json:"id"`
	Wing       any               `json:"wing"`
	Room       any               `json:"room"`
	SourceFile any               `json:"source_file"`
	ChunkIndex any               `json:"chunk_index"`
	FiledAt    any               `json:"filed_at"`
	Preview    *string           `json:"preview"`
	Document   *string           `json:"document,omitempty"`
	Metadata   *backend.Metadata `json:"metadata,omitempty"`
}

func newDrawerRow(r backend.Record, full bool) drawerRow {
	row := drawerRow{
		ID:   r.ID,
		Wing: value(r.Metadata["wing"]), Room: value(r.Metadata["room"]), SourceFile: value(r.Metadata["source_file"]),
		ChunkIndex: value(r.Metadata["chunk_index"]), FiledAt: value(r.Metadata["filed_at"]),
	}
	if r.Document != nil {
		p := preview(*r.Document)
		row.Preview = &p
	}
	if full {
		m := r.Metadata
		if m == nil {
			m = backend.Metadata{}
		}
		row.Document, row.Metadata = r.Document, &m
	}
	return row
}

// value wraps metadata so that it is written with its own type: 3.0 stays a
// float.
func value(v any) any {
	if v == nil {
		return nil
	}
	return metadataValue{v}
}

type metadataValue struct{ v any }

func (m metadataValue) MarshalJSON() ([]byte, error) { return backend.EncodeValue(m.v) }

// withoutBookkeeping narrows a condition to what people filed: MemPalace also
// files rows for itself, of conversations it has read and as sentinels.
func withoutBookkeeping(w backend.Where) backend.Where {
	return backend.AllOf(w,
		backend.Compare{Key: "room", Op: backend.Ne, Value: "_registry"},
		backend.Compare{Key: "ingest_mode", Op: backend.Ne, Value: "registry"},
		backend.Compare{Key: "is_sentinel", Op: backend.Ne, Value: true},
		backend.Compare{Key: "is_sentinel", Op: backend.Ne, Value: int64(1)},
	)
}
