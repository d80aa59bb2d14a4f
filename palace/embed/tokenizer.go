package embed

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxTokens is where Chroma cuts a text, [CLS] and [SEP] counted. The file
// itself says 128, which Chroma overrides.
const maxTokens = 256

// Tokenizer splits a text into the pieces of BERT's vocabulary.
type Tokenizer struct {
	// whole begin a word, inside continue one.
	whole, inside map[string]int32
	longest       int // bytes of the longest piece
	maxWord       int // runes; a longer word is unknown
	special       []specialToken
	unknown       int32
	begin, end    int32
	limit         int
}

// specialToken stands for itself where it is found in raw text.
type specialToken struct {
	text string
	id   int32
}

// TokenizerError says why a tokenizer.json is not what this package does.
type TokenizerError struct{ Reason string }

func (e *TokenizerError) Error() string {
	return "the tokenizer is not the one of all-MiniLM-L6-v2: " + e.Reason
}

// tokenizerFile is what is needed of a tokenizer.json.
type tokenizerFile struct {
	Added []struct {
		ID         int32  `json:"id"`
		Content    string `json:"content"`
		Normalized bool   `json:"normalized"`
		SingleWord bool   `json:"single_word"`
		LStrip     bool   `json:"lstrip"`
		RStrip     bool   `json:"rstrip"`
	} `json:"added_tokens"`
	Normalizer struct {
		Type      string `json:"type"`
		Clean     bool   `json:"clean_text"`
		Chinese   bool   `json:"handle_chinese_chars"`
		Accents   *bool  `json:"strip_accents"`
		Lowercase bool   `json:"lowercase"`
	} `json:"normalizer"`
	PreTokenizer struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	Model struct {
		Type    string           `json:"type"`
		Unknown string           `json:"unk_token"`
		Prefix  string           `json:"continuing_subword_prefix"`
		MaxWord int              `json:"max_input_chars_per_word"`
		Vocab   map[string]int32 `json:"vocab"`
	} `json:"model"`
}

// newTokenizer reads a tokenizer.json. Every setting that changes tokens must
// be as it is here; anything else would make vectors that look right. size is
// how many tokens the network knows.
func newTokenizer(b []byte, size int) (*Tokenizer, error) {
	var f tokenizerFile
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, &TokenizerError{"it is not JSON as expected: " + err.Error()}
	}
	n, m := f.Normalizer, f.Model
	switch {
	case n.Type != "BertNormalizer" || !n.Clean || !n.Chinese || !n.Lowercase || n.Accents != nil && !*n.Accents:
		return nil, &TokenizerError{fmt.Sprintf("it normalises otherwise (%q)", n.Type)}
	case f.PreTokenizer.Type != "BertPreTokenizer":
		return nil, &TokenizerError{fmt.Sprintf("it splits words otherwise (%q)", f.PreTokenizer.Type)}
	case m.Type != "" && m.Type != "WordPiece" || m.Prefix != "##" || m.MaxWord <= 0:
		return nil, &TokenizerError{fmt.Sprintf("its model is %q", m.Type)}
	}
	t := &Tokenizer{whole: map[string]int32{}, inside: map[string]int32{}, maxWord: min(m.MaxWord, 1000), limit: maxTokens}
	for piece, id := range m.Vocab {
		if id < 0 || int(id) >= size {
			return nil, &TokenizerError{fmt.Sprintf("token %d is beyond the %d of the network", id, size)}
		}
		t.longest = max(t.longest, len(piece))
		if rest, ok := strings.CutPrefix(piece, m.Prefix); ok {
			t.inside[rest] = id
		}
		t.whole[piece] = id
	}
	for _, a := range f.Added {
		if a.Content == "" || a.Normalized || a.SingleWord || a.LStrip || a.RStrip || a.ID < 0 || int(a.ID) >= size {
			return nil, &TokenizerError{fmt.Sprintf("the added token %q is matched otherwise", a.Content)}
		}
		t.special = append(t.special, specialToken{a.Content, a.ID})
	}
	// The longest of those that begin at one place is meant.
	slices.SortFunc(t.special, func(a, b specialToken) int { return len(b.text) - len(a.text) })
	for _, want := range []struct {
		to   *int32
		text string
	}{{&t.unknown, m.Unknown}, {&t.begin, "[CLS]"}, {&t.end, "[SEP]"}} {
		id, ok := m.Vocab[want.text]
		if !ok {
			return nil, &TokenizerError{fmt.Sprintf("it has no %q", want.text)}
		}
		*want.to = id
	}
	return t, nil
}

// Encode gives the ids of a text, from [CLS] to [SEP], cut to 256. Bytes that
// are not UTF-8 count as nothing.
func (t *Tokenizer) Encode(text string) []int32 {
	ids := make([]int32, 1, 64)
	ids[0] = t.begin
	for text != "" && len(ids) < t.limit-1 {
		plain, id, rest := t.nextSpecial(text)
		ids = t.words(ids, normalise(plain))
		if id >= 0 {
			ids = append(ids, id)
		}
		text = rest
	}
	return append(ids[:min(len(ids), t.limit-1)], t.end)
}

// nextSpecial cuts text at the first special token; its id is -1 if there is
// none.
func (t *Tokenizer) nextSpecial(text string) (before string, id int32, after string) {
	for i := range len(text) {
		for _, s := range t.special {
			if text[i] == s.text[0] && strings.HasPrefix(text[i:], s.text) {
				return text[:i], s.id, text[i+len(s.text):]
			}
		}
	}
	return text, -1, ""
}

// words adds the pieces of each word of a normalised text. Punctuation is a
// word by itself.
func (t *Tokenizer) words(ids []int32, text string) []int32 {
	start := 0
	for i, r := range text {
		space := isSpace(r)
		if !space && !isPunctuation(r) {
			continue
		}
		ids = t.pieces(ids, text[start:i])
		start = i + utf8.RuneLen(r)
		if !space {
			ids = t.pieces(ids, text[i:start])
		}
		if len(ids) >= t.limit {
			return ids
		}
	}
	return t.pieces(ids, text[start:])
}

// pieces adds a word, each time the longest piece that fits; a word with a part
// that is in no piece is unknown as a whole.
func (t *Tokenizer) pieces(ids []int32, word string) []int32 {
	if word == "" {
		return ids
	}
	if utf8.RuneCountInString(word) > t.maxWord {
		return append(ids, t.unknown)
	}
	before := len(ids)
	vocabulary := t.whole
	for word != "" {
		n := min(len(word), t.longest)
		for n < len(word) && !utf8.RuneStart(word[n]) {
			n--
		}
		id, found := int32(0), false
		for n > 0 {
			if id, found = vocabulary[word[:n]]; found {
				break
			}
			_, last := utf8.DecodeLastRuneInString(word[:n])
			n -= last
		}
		if !found {
			return append(ids[:before], t.unknown)
		}
		ids = append(ids, id)
		word = word[n:]
		vocabulary = t.inside
	}
	return ids
}
