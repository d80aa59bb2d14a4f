package health

import (
	"encoding/json"
	"fmt"
	"strings"

	"castellan/palace"
	"castellan/palace/chroma"
)

// closetsName is the one collection name MemPalace does not let people choose.
const closetsName = "mempalace_closets"

// temporarySuffix marks the collection a rebuild of MemPalace works in.
const temporarySuffix = "__repair_tmp"

// collectionFindings speaks of names, recorded configuration and who made the
// vectors.
func collectionFindings(f *chroma.Facts, s *palace.Site, cfg palace.Config, depth Depth) []Finding {
	var out []Finding
	for _, c := range f.Collections {
		out = append(out, nameFinding(c, cfg)...)
		out = append(out, recordedFindings(c, depth)...)
		out = append(out, formFindings(c)...)
		out = append(out, embedderFindings(c, s, cfg)...)
		if n := deref(c.Bare); n > 0 {
			out = append(out, Finding{
				Code: MetadataMissing, Severity: Warning, Subject: c.Row.Name,
				Cause:    fmt.Sprintf("%s carry no metadata at all: they are shown under (none recorded), and MemPalace's repair may stop at them", count(n, "drawer")),
				Evidence: map[string]any{"bare": n, "rows": c.Rows},
				Remedy:   &Remedy{Reason: "they are listed and exported like all others"},
			})
		}
	}
	return append(out, differingEmbedders(f, s)...)
}

func nameFinding(c chroma.CollectionFacts, cfg palace.Config) []Finding {
	name := c.Row.Name
	switch {
	case name == cfg.CollectionName || name == closetsName || name == "mempalace_drawers":
		return nil
	case strings.HasSuffix(name, temporarySuffix):
		return []Finding{{
			Code: RebuildUnfinished, Severity: Warning, Subject: name,
			Cause:    fmt.Sprintf("a rebuild of MemPalace was cut short: its working collection is still there with %s", rowsOf(c)),
			Evidence: map[string]any{"rows": c.Rows},
			Remedy:   &Remedy{Reason: "compare it with " + strings.TrimSuffix(name, temporarySuffix) + " before anything is deleted: it may hold drawers the other lost"},
		}}
	}
	return []Finding{{
		Code: CollectionUnexpected, Severity: Info, Subject: name,
		Cause:    fmt.Sprintf("MemPalace does not use this collection (%s)", rowsOf(c)),
		Evidence: map[string]any{"rows": c.Rows},
		Remedy:   &Remedy{Reason: "another program's, or left by a repair that ran twice"},
	}}
}

func rowsOf(c chroma.CollectionFacts) string {
	if c.Rows == nil {
		return "an unknown number of rows"
	}
	return count(*c.Rows, "row")
}

func recordedFindings(c chroma.CollectionFacts, depth Depth) []Finding {
	var out []Finding
	if c.Row.ConfigErr != nil {
		out = append(out, Finding{
			Code: SchemaUnknown, Severity: Bad, Subject: c.Row.Name,
			Cause:    "how this collection compares vectors cannot be told: " + c.Row.ConfigErr.Error(),
			Evidence: map[string]any{"config_json_str": deref(c.Row.ConfigJSON)},
			Remedy:   &Remedy{Reason: "Castellan refuses to search or write it rather than guess the distance"},
		})
	}
	if c.Row.Dimension == nil && c.Rows != nil && *c.Rows > 0 {
		out = append(out, Finding{
			Code: DimensionUnset, Severity: Bad, Subject: c.Row.Name,
			Cause:    "the collection has drawers but no dimension: Chroma leaves its queue unread, so new drawers stay invisible",
			Evidence: map[string]any{"rows": *c.Rows},
			Remedy:   &Remedy{Reason: "some other program wrote the queue without setting it"},
		})
	}
	if depth == Full && missingType(c.Row.ConfigJSON) {
		out = append(out, Finding{
			Code: ConfigTypeMissing, Severity: Info, Subject: c.Row.Name,
			Cause:    "the recorded configuration has no _type; Chroma 1.x writes it so itself, but some 0.6 versions fail on it and old MemPalaces then say \"No palace found\"",
			Evidence: map[string]any{"config_json_str": deref(c.Row.ConfigJSON)},
		})
	}
	return out
}

// formFindings: what keeps Chroma from finding its way inside a collection.
func formFindings(c chroma.CollectionFacts) []Finding {
	var out []Finding
	scopes := map[string]int{}
	for _, seg := range c.Row.Segments {
		scopes[seg.Scope]++
	}
	if scopes[chroma.ScopeVector] != 1 || scopes[chroma.ScopeMetadata] != 1 || len(c.Row.Segments) != 2 {
		out = append(out, Finding{
			Code: SegmentsWrong, Severity: Bad, Subject: c.Row.Name,
			Cause: fmt.Sprintf("the collection has %s for vectors and %s for metadata where Chroma keeps one of each: it refuses the collection or answers from the wrong one",
				count(int64(scopes[chroma.ScopeVector]), "segment"), count(int64(scopes[chroma.ScopeMetadata]), "segment")),
			Evidence: map[string]any{"segments": c.Row.Segments, "vector_segments": scopes[chroma.ScopeVector]},
			Remedy:   &Remedy{Action: "castellan export", Mode: "from-sqlite", Reason: "which segment is the right one cannot be told from inside"},
		})
	}
	// Chroma never asks the metadata for the space. When the recorded schema is
	// lost it opens the collection as l2, whatever it was made with.
	want, _ := c.Row.Metadata["hnsw:space"].(string)
	if got := c.Row.Config.Space; want != "" && got != "" && want != got {
		out = append(out, Finding{
			Code: SpaceForgotten, Severity: Bad, Subject: c.Row.Name,
			Cause:    fmt.Sprintf("the collection was made to compare by %s, but what is recorded makes Chroma compare by %s: distances and their order are wrong", want, got),
			Evidence: map[string]any{"made_with": want, "effective": got, "decided_by": c.Row.Config.Source},
			Remedy:   &Remedy{Mode: "from-sqlite", Reason: "the recorded schema was lost; the drawers and their vectors are intact"},
		})
	}
	return out
}

func missingType(config *string) bool {
	if config == nil {
		return false
	}
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(*config), &o) != nil {
		return false
	}
	_, ok := o["_type"]
	return !ok
}

// embedderModel gives Chroma's name of an embedding function in MemPalace's
// words; other names stay as they are.
func embedderModel(name string) string {
	switch name {
	case "default":
		return "minilm"
	case "embeddinggemma_300m":
		return "embeddinggemma"
	}
	return name
}

// recordedModel is what is recorded of who made a collection's vectors: by
// MemPalace beside the palace, by Chroma inside it. Empty where nothing is.
func recordedModel(c chroma.CollectionFacts, s *palace.Site) (model, chromaName string) {
	if e := c.Row.Config.Embedder; e.Kind == "known" {
		chromaName = embedderModel(e.Name)
	}
	if e, ok := s.Layout.Embedders[c.Row.Name]; ok {
		return e.Model, chromaName
	}
	return chromaName, chromaName
}

// embedderFindings: two models can share a dimension, and then only the
// recorded names tell that their vectors do not compare.
func embedderFindings(c chroma.CollectionFacts, s *palace.Site, cfg palace.Config) []Finding {
	model, chromaName := recordedModel(c, s)
	evidence := map[string]any{"recorded": model, "chroma": chromaName, "configured": cfg.EmbeddingModel}
	var out []Finding
	if e, ok := s.Layout.Embedders[c.Row.Name]; ok && c.Row.Dimension != nil && e.Dimension != 0 && e.Dimension != *c.Row.Dimension {
		out = append(out, Finding{
			Code: DimensionMismatch, Severity: Bad, Subject: c.Row.Name,
			Cause:    fmt.Sprintf("the collection has %d dimensions, but its recorded model makes %d", *c.Row.Dimension, e.Dimension),
			Evidence: map[string]any{"collection": *c.Row.Dimension, "recorded": e.Dimension, "model": e.Model},
			Remedy:   &Remedy{Reason: "one of the two records is wrong; re-embed a drawer and compare before writing"},
		})
	}
	mismatch := func(cause string) {
		out = append(out, Finding{
			Code: EmbedderMismatch, Severity: Warning, Subject: c.Row.Name, Cause: cause, Evidence: evidence,
			Remedy: &Remedy{Reason: "set the configuration to the model the vectors were made with; a rebuild that re-embeds with another one replaces every vector"},
		})
	}
	switch {
	case deref(c.Rows) == 0:
	case model == "":
		out = append(out, Finding{
			Code: EmbedderUnrecorded, Severity: Info, Subject: c.Row.Name,
			Cause:    "nothing records which model made these vectors; MemPalace 3.11 and later refuses to add to them until it is told",
			Evidence: evidence,
			Remedy:   &Remedy{Action: "mempalace palace set-embedder --model NAME", Reason: "only whoever filed the drawers knows"},
		})
	case chromaName != "" && chromaName != model:
		mismatch(fmt.Sprintf("MemPalace recorded the model %s, Chroma %s", model, chromaName))
	case cfg.EmbeddingModel != "" && cfg.EmbeddingModel != model && (c.Row.Name == cfg.CollectionName || c.Row.Name == closetsName):
		mismatch(fmt.Sprintf("the vectors were made by %s, but the configuration says %s: new drawers would not compare with the old ones", model, cfg.EmbeddingModel))
	}
	return out
}

func differingEmbedders(f *chroma.Facts, s *palace.Site) []Finding {
	models := map[string]string{}
	for _, c := range f.Collections {
		if model, _ := recordedModel(c, s); model != "" && deref(c.Rows) > 0 {
			models[c.Row.Name] = model
		}
	}
	var drawers, closets string
	for name, model := range models {
		if name == closetsName {
			closets = model
		} else if name == "mempalace_drawers" {
			drawers = model
		}
	}
	if drawers == "" || closets == "" || drawers == closets {
		return nil
	}
	return []Finding{{
		Code: EmbedderMismatch, Severity: Warning, Subject: closetsName,
		Cause:    fmt.Sprintf("drawers were made by %s, closets by %s: one question cannot be compared with both", drawers, closets),
		Evidence: map[string]any{"drawers": drawers, "closets": closets},
		Remedy:   &Remedy{Reason: "closets are built again from their drawers by mining; file the sources again with one model"},
	}}
}
