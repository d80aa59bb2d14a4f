package specimen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"
)

// record is one row to file, whatever its collection.
type record struct {
	id       string
	document string
	metadata []field
}

// field is one metadata value: string, int or float64.
type field struct {
	key   string
	value any
}

// source is a file that has been mined.
type source struct {
	wing, room, path string
	chunks           int
	ids              []string // of its first three drawers
}

var (
	wingNames = strings.Fields("castle_project wing_code wing_people wing_home notes garden_plan research recipes")
	roomNames = strings.Fields("technical architecture planning decisions problems general backend frontend documentation testing")
	hallNames = strings.Fields("technical memory identity family creative emotions consciousness")
)

// nth is the k-th name, made up when the list has ended.
func nth(names []string, k int, prefix string) string {
	if k < len(names) {
		return names[k]
	}
	return fmt.Sprintf("%s_%02d", prefix, k)
}

// firstFiled is when the first drawer was filed; each later one takes a second.
var firstFiled = time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)

// miner makes drawers in the order in which MemPalace's project miner would
// file them: file by file, chunk by chunk.
type miner struct {
	spec    Spec
	row     int // the next one
	small   int // row at which the small wings begin
	sources []source
	chunk   int // next in the last source
}

func newMiner(s Spec) *miner {
	return &miner{spec: s, small: s.Rows - smallRows(s.SmallWings)}
}

// next is the following drawer.
func (m *miner) next() record {
	if n := len(m.sources); n == 0 || m.chunk == m.sources[n-1].chunks {
		m.sources = append(m.sources, m.nextSource())
		m.chunk = 0
	}
	src := &m.sources[len(m.sources)-1]
	r := rand.New(rand.NewPCG(m.spec.Seed, uint64(m.row)))
	id := drawerID(src.wing, src.room, src.path, m.chunk)
	if len(src.ids) < 3 {
		src.ids = append(src.ids, id)
	}
	filed := firstFiled.Add(time.Duration(m.row) * time.Second)
	rec := record{
		id:       id,
		document: prose(r, fmt.Sprintf("note-%06d", m.row), m.spec.DocumentChars),
		metadata: []field{
			{"wing", src.wing},
			{"room", src.room},
			{"source_file", src.path},
			{"chunk_index", m.chunk},
			{"added_by", "mempalace"},
			{"filed_at", filed.Format("2006-01-02T15:04:05.000000+00:00")},
			{"normalize_version", 3},
			{"source_mtime", float64(firstFiled.Unix()+int64(len(m.sources))*60) - 0.25},
			{"line_start", 1 + m.chunk*9},
			{"line_end", 9 + m.chunk*9},
			{"content_date", filed.AddDate(0, 0, -r.IntN(400)).Format(time.DateOnly)},
			{"content_date_source", "mtime"},
			{"chunk_total", src.chunks},
			{"id_recipe", "v3"},
			{"hall", nth(hallNames, r.IntN(len(hallNames)), "")},
		},
	}
	if k := r.IntN(4); k > 0 {
		first := r.IntN(len(entities) - k)
		rec.metadata = append(rec.metadata, field{"entities", strings.Join(entities[first:first+k], ";")})
	}
	m.row++
	m.chunk++
	return rec
}

// nextSource is the file that the next row begins.
func (m *miner) nextSource() source {
	n := len(m.sources)
	r := rand.New(rand.NewPCG(m.spec.Seed+1, uint64(n)))
	if m.row >= m.small {
		k, at := 0, m.small
		for ; at < m.row; k++ {
			at += smallWing(k)
		}
		wing := fmt.Sprintf("small_%02d", k)
		return source{wing: wing, room: "general", path: fmt.Sprintf("/home/u/%s/only.md", wing), chunks: smallWing(k)}
	}
	// The front of the list holds most drawers, as one project always does.
	f := r.Float64()
	wing := nth(wingNames, int(f*f*float64(m.spec.Wings)), "wing")
	room := nth(roomNames, r.IntN(m.spec.RoomsPerWing), "room")
	return source{
		wing: wing, room: room,
		path:   fmt.Sprintf("/home/u/%s/%s/file_%05d.md", wing, room, n),
		chunks: min(1+r.IntN(40), m.small-m.row),
	}
}

// drawerID is MemPalace's third recipe: each part led by its length in
// characters, so that no two pairs of parts read alike.
func drawerID(wing, room, path string, chunk int) string {
	h := sha256.New()
	for _, part := range []string{path, fmt.Sprint(chunk)} {
		fmt.Fprintf(h, "%d:%s", utf8.RuneCountInString(part), part)
	}
	return fmt.Sprintf("drawer_%s_%s_%s", wing, room, hex.EncodeToString(h.Sum(nil))[:24])
}

// closet is the k-th closet: a few lines that point to the drawers of a file.
func closet(k int, sources []source, seed uint64) record {
	src, part := sources[k%len(sources)], k/len(sources)+1
	r := rand.New(rand.NewPCG(seed+2, uint64(k)))
	lines := []string{fmt.Sprintf("%s/%s/file|%s|→%s", src.wing, src.room, entities[r.IntN(len(entities))], strings.Join(src.ids, ","))}
	for range 3 + r.IntN(5) {
		f := 60 + r.IntN(len(words)-60)
		lines = append(lines, fmt.Sprintf("decided %s|%s|→%s", words[f], entities[r.IntN(len(entities))], strings.Join(src.ids, ",")))
	}
	sum := sha256.Sum256([]byte(src.path))
	return record{
		id:       fmt.Sprintf("closet_%s_%s_%s_%02d", src.wing, src.room, hex.EncodeToString(sum[:])[:24], part),
		document: strings.Join(lines, "\n"),
		metadata: []field{
			{"wing", src.wing},
			{"room", src.room},
			{"source_file", src.path},
			{"drawer_count", src.chunks},
			{"filed_at", firstFiled.Add(time.Duration(k) * time.Minute).Format("2006-01-02T15:04:05.000000+00:00")},
			{"normalize_version", 3},
		},
	}
}
