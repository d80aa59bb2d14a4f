//go:build interop

package chroma

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"

	"castellan/palace/backend"

	"github.com/google/go-cmp/cmp"
)

// step is one call of a real chromadb.
type step struct {
	Op         string         `json:"op"`
	Collection string         `json:"collection,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	Args       map[string]any `json:"args,omitempty"`
}

type answer struct {
	Answer json.RawMessage `json:"answer"`
	Error  string          `json:"error"`
}

type got struct {
	IDs        []string          `json:"ids"`
	Documents  []*string         `json:"documents"`
	Metadatas  []json.RawMessage `json:"metadatas"`
	URIs       []*string         `json:"uris"`
	Embeddings [][]float32       `json:"embeddings"`
}

// chromadb plays steps in a process of its own, which has ended on return.
func chromadb(t *testing.T, dir string, steps []step) []answer {
	t.Helper()
	python := os.Getenv("CASTELLAN_PYTHON")
	if python == "" {
		t.Skip("CASTELLAN_PYTHON names no python with chromadb")
	}
	in, err := json.Marshal(map[string]any{"dir": dir, "steps": steps})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/interop.py")
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "ANONYMIZED_TELEMETRY=False")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []answer
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	if len(answers) != len(steps) {
		t.Fatalf("%d answers to %d steps", len(answers), len(steps))
	}
	return answers
}

func (a answer) got(t *testing.T) got {
	t.Helper()
	if a.Error != "" {
		t.Fatal(a.Error)
	}
	var g got
	if err := json.Unmarshal(a.Answer, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// random makes records and filters from few values, so that they meet often.
type random struct{ *rand.Rand }

func pick[T any](r random, list ...T) T { return list[r.IntN(len(list))] }

var (
	someTexts  = []string{"", "a", "b", "wing_code", "Ünïcode", "a\x00b", "it's", "100%", "a_c", "日本", "[x]", "*", `q"`, "A"}
	someInts   = []int64{0, 1, 2, 3, -1, 9007199254740993, 9007199254740992, math.MaxInt64, math.MinInt64}
	someFloats = []float64{0, 1, 2, 2.5, -1, 3, 9007199254740992, 1e300, -1e300, 0.1}
	someKeys   = []string{"mix", "s", "i", "f", "b", "ключ", "a b", "it's"}
	someLists  = []string{"ls", "li", "lf", "lb", "lmix"}
)

func (r random) scalar() any {
	switch r.IntN(4) {
	case 0:
		return pick(r, someInts...)
	case 1:
		return pick(r, someFloats...)
	case 2:
		return r.IntN(2) == 0
	}
	return pick(r, someTexts...)
}

func (r random) list(kind string) any {
	n := 1 + r.IntN(3)
	if kind == "lmix" {
		kind = pick(r, "ls", "li", "lf", "lb")
	}
	switch kind {
	case "ls":
		return fill(n, func() string { return pick(r, someTexts...) })
	case "li":
		return fill(n, func() int64 { return pick(r, someInts...) })
	case "lf":
		return fill(n, func() float64 { return pick(r, someFloats...) })
	}
	return fill(n, func() bool { return r.IntN(2) == 0 })
}

func fill[T any](n int, f func() T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = f()
	}
	return list
}

func (r random) metadata() backend.Metadata {
	m := backend.Metadata{}
	for _, key := range someKeys {
		switch {
		case r.IntN(3) == 0:
		case key == "s":
			m[key] = pick(r, someTexts...)
		case key == "i":
			m[key] = pick(r, someInts...)
		case key == "f":
			m[key] = pick(r, someFloats...)
		case key == "b":
			m[key] = r.IntN(2) == 0
		default:
			m[key] = r.scalar()
		}
	}
	for _, key := range someLists {
		if r.IntN(3) == 0 {
			m[key] = r.list(key)
		}
	}
	return m
}

func (r random) document() string {
	s := ""
	for range r.IntN(5) {
		s += pick(r, "a", "b", "ab", "Ä", "line\n", "7", " ", "\x00", "%", "_", "\\", "日本", "*", "[", "wing")
	}
	return s
}

func (r random) vector() []float32 {
	return fill(3, func() float32 { return float32(r.IntN(9)) - 4.5 })
}

// number writes floats so that they stay floats.
type number float64

func (n number) MarshalJSON() ([]byte, error) { return backend.EncodeValue(float64(n)) }

func plain(v any) any {
	if f, ok := v.(float64); ok {
		return number(f)
	}
	return v
}

func (r random) where(depth int) map[string]any {
	if depth > 0 && r.IntN(3) == 0 {
		return map[string]any{pick(r, "$and", "$or"): fill(2+r.IntN(2), func() map[string]any { return r.where(depth - 1) })}
	}
	if r.IntN(4) == 0 {
		return map[string]any{pick(r, append(someLists, "s")...): map[string]any{pick(r, "$contains", "$not_contains"): plain(r.scalar())}}
	}
	key := pick(r, append(someKeys, "absent", "ls", "chroma:document")...)
	switch pick(r, "is", "eq", "set", "order") {
	case "is":
		return map[string]any{key: plain(r.scalar())}
	case "eq":
		return map[string]any{key: map[string]any{pick(r, "$eq", "$ne"): plain(r.scalar())}}
	case "set":
		list := []any{plain(r.scalar())}
		for range r.IntN(3) {
			if v := plain(r.scalar()); fmt.Sprintf("%T", v) == fmt.Sprintf("%T", list[0]) {
				list = append(list, v)
			}
		}
		return map[string]any{key: map[string]any{pick(r, "$in", "$nin"): list}}
	}
	var v any = pick(r, someInts...)
	if r.IntN(2) == 0 {
		v = number(pick(r, someFloats...))
	}
	return map[string]any{key: map[string]any{pick(r, "$gt", "$gte", "$lt", "$lte"): v}}
}

func (r random) whereDocument(depth int) map[string]any {
	if depth > 0 && r.IntN(3) == 0 {
		return map[string]any{pick(r, "$and", "$or"): fill(2+r.IntN(2), func() map[string]any { return r.whereDocument(depth - 1) })}
	}
	if r.IntN(4) == 0 {
		return map[string]any{pick(r, "$regex", "$not_regex"): pick(r, "a", "^a", "b$", `\d`, `\w+`, `(?i)ä`, "a|7", `\s`, "[ab]{2}", `\\`, "(?s)a.b", `^\W`)}
	}
	return map[string]any{pick(r, "$contains", "$not_contains"): pick(r, "a", "b", "ab", "Ä", "ä", "line", "7", "%", "_", `\`, "日", "*", "[", "wing", "win\x00", "a\x00", "WING")}
}

func (r random) get() step {
	args := map[string]any{"include": []string{}}
	if r.IntN(4) != 0 {
		args["where"] = r.where(2)
	}
	if r.IntN(2) == 0 {
		args["where_document"] = r.whereDocument(2)
	}
	if r.IntN(4) == 0 {
		args["offset"], args["limit"] = r.IntN(20), 1+r.IntN(40)
	}
	if r.IntN(4) == 0 {
		ids := map[string]bool{}
		for range 20 {
			ids[fmt.Sprint("id", r.IntN(200))] = true
		}
		list := []string{}
		for id := range ids {
			list = append(list, id)
		}
		slices.Sort(list)
		args["ids"] = list
	}
	return step{Op: "get", Args: args}
}

// write makes one batch. chromadb wants a text for every record of a batch or
// for none, and would make vectors itself for texts that come without.
func (r random) write(op string, n int) step {
	ids := map[string]bool{}
	for range n {
		ids[fmt.Sprint("id", r.IntN(120))] = true
	}
	list := []string{}
	for id := range ids {
		list = append(list, id)
	}
	slices.Sort(list)
	args := map[string]any{"ids": list}
	if op == "delete" {
		return step{Op: op, Args: args}
	}
	if op != "update" || r.IntN(2) == 0 {
		args["embeddings"] = fill(len(list), r.vector)
		if r.IntN(4) != 0 {
			args["documents"] = fill(len(list), r.document)
		}
		if r.IntN(5) == 0 {
			args["uris"] = fill(len(list), func() string { return pick(r, "file://a", "x") })
		}
	}
	if len(args) == 1 || r.IntN(5) != 0 {
		args["metadatas"] = fill(len(list), func() backend.Metadata {
			m := r.metadata()
			if len(m) == 0 {
				m["s"] = "a"
			}
			return m
		})
	}
	return step{Op: op, Args: args}
}

func (r random) writes(n int) []step {
	steps := fill(n, func() step { return r.write(pick(r, "add", "upsert", "upsert", "update", "delete"), 1+r.IntN(30)) })
	return steps
}

func everything() step {
	return step{Op: "get", Args: map[string]any{"include": []string{"documents", "metadatas", "uris", "embeddings"}}}
}

// compareGet holds our answer to a step against the engine's.
func compareGet(t *testing.T, c *Collection, s step, a answer) {
	t.Helper()
	text := func(key string) string {
		b, err := json.Marshal(s.Args[key])
		if err != nil {
			t.Fatal(err)
		}
		if s.Args[key] == nil {
			return ""
		}
		return string(b)
	}
	want := a.got(t)
	q := backend.Query{Filter: parse(t, text("where"), text("where_document")), Limit: largestPage}
	if ids, ok := s.Args["ids"].([]string); ok {
		q.IDs = ids
	}
	if offset, ok := s.Args["offset"].(int); ok {
		q.Offset, q.Limit = offset, s.Args["limit"].(int)
	}
	page, err := c.Get(t.Context(), q)
	if err != nil {
		t.Fatal(text("where"), text("where_document"), err)
	}
	if d := cmp.Diff(want.IDs, idsOf(page.Records)); d != "" {
		t.Errorf("where %s, document %s, ids %s: %s", text("where"), text("where_document"), text("ids"), d)
	}
	if q.Offset != 0 {
		return
	}
	if n, err := c.Count(t.Context(), q.Filter); err != nil || q.Limit == largestPage && int(n) != len(want.IDs) {
		t.Errorf("where %s, document %s: counted %d, want %d, %v", text("where"), text("where_document"), n, len(want.IDs), err)
	}
}

// compareRecords holds every part of every record against the engine's.
func compareRecords(t *testing.T, c *Collection, a answer) {
	t.Helper()
	want := a.got(t)
	list := walk(t, c, backend.Query{Include: backend.Documents | backend.Metadatas | backend.URIs | backend.Embeddings, Limit: 7})
	if d := cmp.Diff(want.IDs, idsOf(list)); d != "" {
		t.Fatal(d)
	}
	for i, r := range list {
		var m backend.Metadata
		if raw := want.Metadatas[i]; string(raw) != "null" {
			var err error
			if m, _, err = backend.ParseMetadata(raw); err != nil {
				t.Fatal(err)
			}
		}
		if len(m) == 0 {
			m = nil
		}
		if d := cmp.Diff(m, r.Metadata); d != "" {
			t.Errorf("%s: %s", r.ID, d)
		}
		if d := cmp.Diff(want.Documents[i], r.Document); d != "" {
			t.Errorf("%s: %s", r.ID, d)
		}
		if d := cmp.Diff(want.URIs[i], r.URI); d != "" {
			t.Errorf("%s: %s", r.ID, d)
		}
		if want.Embeddings == nil || len(want.Embeddings[i]) != len(r.Embedding) {
			t.Fatalf("%s: %v", r.ID, r.Embedding)
		}
		for k, x := range want.Embeddings[i] {
			if math.Abs(float64(x-r.Embedding[k])) > 1e-6*max(1, math.Abs(float64(x))) {
				t.Errorf("%s: %v, want %v", r.ID, r.Embedding, want.Embeddings[i])
				break
			}
		}
	}
}

func TestRandomFiltersFindWhatChromaFinds(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			r := random{rand.New(rand.NewPCG(seed, 1))}
			dir := t.TempDir()
			steps := []step{{Op: "create", Metadata: map[string]any{"hnsw:space": pick(r, "l2", "cosine", "ip"), "hnsw:sync_threshold": pick(r, 50, 1000), "hnsw:batch_size": 2}}}
			steps = append(steps, r.writes(25)...)
			filters := fill(400, r.get)
			steps = append(steps, filters...)
			steps = append(steps, everything())
			answers := chromadb(t, dir, steps)
			for i, a := range answers[:26] {
				if a.Error != "" {
					t.Fatalf("step %d %s: %s", i, steps[i].Op, a.Error)
				}
			}
			c := collection(t, open(t, dir), "drawers")
			for i, s := range filters {
				compareGet(t, c, s, answers[26+i])
			}
			compareRecords(t, c, answers[len(answers)-1])
		})
	}
}
