package pickle

import (
	"context"
	"fmt"
	"io"
	"os"
)

// IndexMetadata is what an index_metadata.pickle says.
type IndexMetadata struct {
	Protocol int
	Class    string // "" for the plain dict of Chroma 1.x, else PersistentData

	// Dimensionality is nil in every file the Rust core wrote (MemPalace #1103,
	// Chroma #6949): that is normal and says nothing about the index.
	Dimensionality *int64
	// TotalElementsAdded is the highest label ever given; labels are not reused.
	TotalElementsAdded int64
	// MaxSeqID is the legacy position in the write log, nil if None or absent.
	MaxSeqID *int64

	// IDs maps a user id, as raw bytes, to its label in the index. Deleted ids
	// are not in it.
	IDs map[string]uint64

	LabelCount int    // entries of label_to_id
	SeqIDCount int    // entries of id_to_seq_id
	MaxLabel   uint64 // highest label in IDs, 0 if there is none

	// Mismatches counts the pairs of either map that the other one lacks: 0 when
	// label_to_id is exactly the inverse of id_to_label.
	Mismatches int
	// DuplicateLabels counts ids whose label an earlier id already has.
	DuplicateLabels int
	// RepeatedIDs counts keys of id_to_label written more than once; the last won.
	RepeatedIDs int
	// Missing names the fields the file lacks and Chroma 1.5 refuses to open it
	// without. dimensionality and max_seq_id may be absent.
	Missing []string
	// TrailingBytes lie behind the end of the pickle. Python ignores them, Chroma
	// 1.5 refuses the file.
	TrailingBytes int64
}

// Consistent reports whether the two maps are each other's inverse, each id and
// each label once, and no label beyond those ever given.
func (m *IndexMetadata) Consistent() bool {
	return m.Mismatches == 0 && m.DuplicateLabels == 0 && m.RepeatedIDs == 0 &&
		m.TotalElementsAdded >= 0 && m.MaxLabel <= uint64(m.TotalElementsAdded)
}

// maxSize bounds the whole file: some 30 million ids.
const maxSize = 4 << 30

// Read reads index metadata of size bytes from r. Errors are ErrEmpty,
// *TruncatedError, *UnsafeError, *FormatError, *ShapeError, the context's
// error, or what r returned.
func Read(ctx context.Context, r io.Reader, size int64) (*IndexMetadata, error) {
	if size <= 0 {
		return nil, ErrEmpty
	}
	if size > maxSize {
		return nil, &FormatError{Reason: fmt.Sprintf("%d bytes are more than any index metadata", size)}
	}
	d := &decoder{w: newWindow(ctx, r, size)}
	d.texts.all = make([]string, 0, min(size/128, 1<<18)) // about one id in each map: no regrowth in files of today
	root, err := d.run()
	if err != nil {
		return nil, err
	}
	m, err := d.metadata(root)
	if err != nil {
		return nil, err
	}
	m.TrailingBytes = d.w.remaining()
	return m, nil
}

// ReadFile is Read for a path; errors name it. Whatever is not a regular file
// is refused without waiting for it.
func ReadFile(ctx context.Context, path string) (*IndexMetadata, error) {
	m, err := readFile(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func readFile(ctx context.Context, path string) (*IndexMetadata, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &NotRegularError{Mode: info.Mode().String()}
	}
	return Read(ctx, f, info.Size())
}
