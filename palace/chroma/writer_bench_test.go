package chroma

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"castellan/palace/backend"
)

const (
	benchRecords = 10_000
	benchBatch   = 1_000
)

// benchText is the same text as testdata/writes.py makes.
func benchText(i int) string {
	words := make([]string, 120)
	x := int64(i) + 1
	for k := range words {
		x = (x*1103515245 + 12345) % (1 << 31)
		words[k] = fmt.Sprintf("word%d", (x>>16)%5000)
	}
	return strings.Join(words, " ")
}

func benchRecord(r *rand.Rand, i int) backend.Record {
	v := make([]float32, 384)
	for k := range v {
		v[k] = float32(r.NormFloat64())
	}
	text := benchText(i)
	return backend.Record{ID: fmt.Sprint("drawer_", i), Document: &text, Embedding: v, Metadata: backend.Metadata{
		"wing": fmt.Sprint("wing_", i%7), "room": fmt.Sprint("room_", i%40), "hall": "facts", "source_file": fmt.Sprintf("/home/ada/notes/%d.md", i/20),
		"chunk_index": int64(i % 20), "added_by": "mine", "filed_at": "2026-01-02T03:04:05", "importance": 0.5}}
}

// BenchmarkUpserts files 10,000 drawers in batches of 1,000, and with
// CASTELLAN_PYTHON has chromadb do the same in the same run: its seconds and
// the ratio of ours to them are reported. chromadb's include its index, which
// it keeps in memory as it writes.
func BenchmarkUpserts(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	records := make([]backend.Record, benchRecords)
	for i := range records {
		records[i] = benchRecord(r, i)
	}
	for _, alone := range []bool{true, false} {
		b.Run(map[bool]string{true: "alone", false: "queue"}[alone], func(b *testing.B) {
			theirs := 0.0
			for b.Loop() {
				b.StopTimer()
				theirs += chromadbSeconds(b)
				dir := filepath.Join(b.TempDir(), "palace")
				must(b, Create(b.Context(), dir))
				p := open(b, dir)
				_, err := p.Writable(answering(true)).CreateCollection(b.Context(), backend.NewCollection{Name: "mempalace_drawers", Embedder: NoEmbedder})
				must(b, err)
				c := writer(b, p, "mempalace_drawers", alone)
				b.StartTimer()
				for i := 0; i < len(records); i += benchBatch {
					must(b, c.Upsert(b.Context(), records[i:i+benchBatch]))
				}
			}
			if theirs > 0 {
				b.ReportMetric(theirs/float64(b.N), "chromadb-s/op")
				b.ReportMetric(b.Elapsed().Seconds()/theirs, "ratio")
			}
		})
	}
}

func chromadbSeconds(b *testing.B) float64 {
	python := os.Getenv("CASTELLAN_PYTHON")
	if python == "" {
		return 0
	}
	cmd := exec.CommandContext(b.Context(), python, "testdata/writes.py", filepath.Join(b.TempDir(), "theirs"), fmt.Sprint(benchRecords), fmt.Sprint(benchBatch))
	cmd.Env = append(os.Environ(), "ANONYMIZED_TELEMETRY=False")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	must(b, err)
	s, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	must(b, err)
	return s
}
