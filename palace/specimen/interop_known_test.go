//go:build interop && unix

package specimen

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// known is what was true of the drawers before they fell ill.
type known struct {
	Vectors []pair[[]float32] `json:"vectors"`
	Words   []pair[string]    `json:"words"` // drawers' texts
	Gone    []string          `json:"gone"`  // drawers that SQLite no longer has
	rows    int               // drawers that were acknowledged and not deleted
}

// pair is an id with something; JSON has it as a list of two.
type pair[T any] struct {
	id    string
	value T
}

func (p pair[T]) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{p.id, p.value})
}

// knownOf tells what there is to know of specimen dir: its sample's drawers,
// or, where it was generated, its own.
func knownOf(t *testing.T, s Sickness, dir string) (k known) {
	t.Helper()
	if s.Base != "empty" {
		base := filepath.Join(t.TempDir(), "base")
		if err := CopyFS(samples, s.Base, base); err != nil {
			t.Fatal(err)
		}
		k = knownOfSample(t, base)
	} else if isPalace(dir) {
		k = knownOfGenerated(t, dir)
	}
	if k.Words == nil { // JSON null is no list
		k.Words = []pair[string]{}
	}
	k.Gone = []string{}
	if !isPalace(dir) {
		return k
	}
	live := map[string]bool{}
	for _, id := range lines(t, dir, drawerIDs) {
		live[id] = true
	}
	for _, row := range lines(t, dir, placeholders.Replace("SELECT operation, id FROM embeddings_queue WHERE topic = {topic} ORDER BY seq_id")) {
		operation, id, _ := strings.Cut(row, "|")
		switch operation {
		case "0", "2":
			live[id] = true
		case "3":
			delete(live, id)
		}
	}
	k.rows = len(live)
	for _, v := range k.Vectors {
		if !live[v.id] {
			k.Gone = append(k.Gone, v.id)
		}
	}
	return k
}

var drawerIDs = placeholders.Replace("SELECT embedding_id FROM embeddings NOT INDEXED WHERE segment_id = {metadata} ORDER BY id")

// isPalace reports whether dir has a database with tables.
func isPalace(dir string) bool {
	db, err := openDatabase(dir)
	if err != nil {
		return false
	}
	defer db.Close()
	var n int
	return db.QueryRow("SELECT count(*) FROM embeddings NOT INDEXED").Scan(&n) == nil
}

// knownOfGenerated makes every seventh vector once more.
func knownOfGenerated(t *testing.T, dir string) (k known) {
	ids := lines(t, dir, drawerIDs)
	if len(ids) == 0 {
		return k
	}
	dimension, err := strconv.Atoi(lines(t, dir, placeholders.Replace("SELECT dimension FROM collections WHERE id = {drawers}"))[0])
	if err != nil {
		t.Fatal(err)
	}
	source := newVectors(0, dimension, len(ids))
	for i := 0; i < len(ids); i += 7 {
		v := make([]float32, dimension)
		source.row(i, v)
		k.Vectors = append(k.Vectors, pair[[]float32]{ids[i], v})
	}
	k.Words = wordsOf(t, dir)
	return k
}

// knownOfSample reads every drawer's vector from index and queue.
func knownOfSample(t *testing.T, dir string) known {
	k := known{Gone: []string{}}
	vectors := map[string][]float32{}
	seg, err := segmentOf(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readPickle(seg); err == nil {
		err := onIndex(func(x *index) error {
			ids := map[uint64]string{}
			for i, l := range x.pickle.labels {
				ids[l] = x.pickle.ids[i]
			}
			for i := range int(x.head.Count) {
				vectors[ids[x.label(i)]] = floats(t, x.element(i)[x.head.DataOffset:x.head.LabelOffset])
			}
			return nil
		})(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range lines(t, dir, placeholders.Replace("SELECT id, hex(vector) FROM embeddings_queue WHERE topic = {topic} AND vector IS NOT NULL ORDER BY seq_id")) {
		id, digits, _ := strings.Cut(row, "|")
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		vectors[id] = floats(t, b)
	}
	for _, id := range lines(t, dir, drawerIDs) {
		k.Vectors = append(k.Vectors, pair[[]float32]{id, vectors[id]})
	}
	k.Words = wordsOf(t, dir)
	return k
}

// wordsOf is how some drawers' texts begin.
func wordsOf(t *testing.T, dir string) (words []pair[string]) {
	for _, row := range lines(t, dir, `SELECT embedding_id, substr(string_value, 1, 60) FROM embedding_metadata m
		JOIN embeddings e ON e.id = m.id WHERE key = 'chroma:document' AND e.id IN (2, 4, 7, 8)`) {
		id, text, _ := strings.Cut(row, "|")
		words = append(words, pair[string]{id, text})
	}
	return words
}

func floats(t *testing.T, b []byte) []float32 {
	v := make([]float32, len(b)/4)
	if _, err := binary.Decode(b, binary.LittleEndian, v); err != nil {
		t.Fatal(err)
	}
	return v
}
