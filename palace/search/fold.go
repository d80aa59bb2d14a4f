package search

import (
	"strings"

	"castellan/palace/backend"
)

// foldChars is how long a text must be before it is folded: that two sources
// have the same "Yes." is coincidence.
const foldChars = 100

// fold puts hits of one text from different sources together: backups and
// exports hold the same passage again, and each copy would take a place of its
// own. The first stays and names the others. A passage that one source repeats
// stays as many hits as it has there, whatever the order.
func fold(hits []Hit) []Hit {
	type passage struct {
		shown []int          // places in kept
		seen  map[string]int // by source
	}
	var kept []Hit
	by := map[string]*passage{}
	for _, h := range hits {
		source := sourceOf(h.Record)
		if source == "" || length(strings.TrimSpace(h.Text), foldChars) < foldChars {
			kept = append(kept, h)
			continue
		}
		p := by[h.Text]
		if p == nil {
			p = &passage{seen: map[string]int{}}
			by[h.Text] = p
		}
		p.seen[source]++
		if n := p.seen[source]; n > len(p.shown) {
			p.shown = append(p.shown, len(kept))
			kept = append(kept, h)
		} else {
			first := &kept[p.shown[n-1]]
			first.AlsoIn = append(first.AlsoIn, Copy{ID: h.ID, Source: source})
		}
	}
	return kept
}

// sourceOf is the path a drawer was filed from, as it is stored.
func sourceOf(r backend.Record) string {
	s, _ := r.Metadata["source_file"].(string)
	return s
}
