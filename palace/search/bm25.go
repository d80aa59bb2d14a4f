package search

import "math"

// MemPalace's parameters for BM25: saturation of repeated words, and how much
// the length of a text counts.
const (
	bm25K1 = 1.5
	bm25B  = 0.75
)

// bm25 scores each text for the words of a question. How rare a word is counts
// among these texts alone, which is what reorders candidates; the sums follow
// the order in which a text has its words, as MemPalace's do.
func bm25(words string, texts []string) []float64 {
	scores := make([]float64, len(texts))
	t := newTokenizer()
	holding := map[string]int{} // texts with the word
	for _, w := range t.tokens(words) {
		holding[w] = 0
	}
	if len(holding) == 0 || len(texts) == 0 {
		return scores
	}
	counted := make([]wordCount, len(texts))
	total := 0
	for i, text := range texts {
		counted[i] = t.count(text, holding)
		total += counted[i].length
	}
	if total == 0 {
		return scores
	}
	n, average := float64(len(texts)), float64(total)/float64(len(texts))
	for i, c := range counted {
		for j, term := range c.terms {
			df, tf := float64(holding[term]), float64(c.counts[j])
			idf := math.Log((n-df+0.5)/(df+0.5) + 1)
			scores[i] += idf * (tf * (bm25K1 + 1)) / (tf + bm25K1*(1-bm25B+bm25B*float64(c.length)/average))
		}
	}
	return scores
}

// wordCount is what BM25 has to know of one text.
type wordCount struct {
	length int      // in words
	terms  []string // those asked for, in order of appearance
	counts []int
}

// count counts a text's words, and in holding the text for each word it has.
func (t tokenizer) count(text string, holding map[string]int) wordCount {
	var c wordCount
	at := map[string]int{}
	for _, w := range t.tokens(text) {
		c.length++
		if _, asked := holding[w]; !asked {
			continue
		}
		i, seen := at[w]
		if !seen {
			i = len(c.terms)
			at[w] = i
			c.terms, c.counts = append(c.terms, w), append(c.counts, 0)
			holding[w]++
		}
		c.counts[i]++
	}
	return c
}
