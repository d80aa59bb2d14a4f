package backend

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The answers are those of Chroma 1.5.9.
func TestNumbersMeetInTheStoredType(t *testing.T) {
	two, twoFloat := Metadata{"n": int64(2)}, Metadata{"n": 2.0}
	big := Metadata{"n": int64(9007199254740993)}
	bigFloat := Metadata{"n": 9007199254740992.0}
	for _, tc := range []struct {
		where string
		m     Metadata
		want  bool
	}{
		{`{"n":2.5}`, two, true}, // 2.5 becomes 2
		{`{"n":2.5}`, twoFloat, false},
		{`{"n":{"$ne":2.5}}`, two, false},
		{`{"n":{"$gte":2.5}}`, two, true},
		{`{"n":{"$gt":2.5}}`, two, false},
		{`{"n":{"$lt":2.5}}`, two, false},
		{`{"n":{"$lt":2.5}}`, twoFloat, true},
		{`{"n":{"$lte":2.5}}`, two, true},
		{`{"n":{"$in":[2.5,7.0]}}`, two, true},
		{`{"n":{"$nin":[2.5]}}`, two, false},
		{`{"n":{"$in":[1,2]}}`, twoFloat, true},
		{`{"n":9007199254740992}`, big, false},
		{`{"n":9007199254740992.0}`, big, false},
		{`{"n":{"$gt":9007199254740992.0}}`, big, true},
		{`{"n":9007199254740993}`, bigFloat, true}, // the asked integer becomes a float
		{`{"n":{"$lt":1e300}}`, big, true},
		{`{"n":{"$gt":-1e300}}`, two, true},
	} {
		w, err := ParseWhere([]byte(tc.where))
		if err != nil {
			t.Fatal(tc.where, err)
		}
		if got := MatchWhere(w, tc.m); got != tc.want {
			t.Errorf("%s on %v: %v", tc.where, tc.m["n"], got)
		}
	}
}

func TestListElementsMeetInTheirOwnTypeOnly(t *testing.T) {
	m := Metadata{"i": []int64{1, 2}, "f": []float64{1.5, 2}, "s": []string{"a", "b\x00c"}, "b": []bool{true}, "n": int64(2)}
	for where, want := range map[string]bool{
		`{"i":{"$contains":2}}`:            true,
		`{"i":{"$contains":2.0}}`:          false,
		`{"f":{"$contains":2}}`:            false,
		`{"f":{"$contains":2.0}}`:          true,
		`{"s":{"$contains":"b\u0000c"}}`:   true,
		`{"b":{"$contains":true}}`:         true,
		`{"n":{"$contains":2}}`:            false,
		`{"n":{"$not_contains":2}}`:        true,
		`{"i":2}`:                          false,
		`{"i":{"$ne":2}}`:                  true,
		`{"absent":{"$not_contains":"x"}}`: true,
	} {
		w, err := ParseWhere([]byte(where))
		if err != nil {
			t.Fatal(where, err)
		}
		if got := MatchWhere(w, m); got != want {
			t.Errorf("%s: %v", where, got)
		}
	}
}

func TestDocumentsAreSearchedAsChromaSearchesThem(t *testing.T) {
	docs := []string{"before\x00after", "Ünïcode ÄÖ x1", "line1\nline2", "tab\tz", "", "100% a_b\\c", "UPPER lower", "ab"}
	for where, want := range map[string][]int{
		`{"$contains":"after"}`:         {}, // behind a NUL
		`{"$contains":"before"}`:        {0},
		`{"$contains":"fore\u0000zzz"}`: {0}, // a NUL ends the pattern, and wants the end
		`{"$contains":"bef\u0000"}`:     {},
		`{"$not_contains":"after"}`:     {0, 1, 2, 3, 4, 5, 6, 7, 8},
		`{"$contains":"upper"}`:         {},
		`{"$contains":"UPPER"}`:         {6},
		`{"$contains":"%"}`:             {5},
		`{"$contains":"a_b"}`:           {5},
		`{"$contains":"\\"}`:            {5},
		`{"$contains":"ä"}`:             {},
		`{"$contains":"Ä"}`:             {1},
		`{"$regex":"^line1$"}`:          {},
		`{"$regex":"(?m)^line2$"}`:      {2},
		`{"$regex":"line1.line2"}`:      {},
		`{"$regex":"\\d"}`:              {1, 2, 5},
		`{"$regex":"\\w"}`:              {0, 1, 2, 3, 5, 6, 7},
		`{"$regex":"after"}`:            {0},
		`{"$not_regex":"a"}`:            {1, 2, 4, 6, 8},
		`{"$regex":"(?i)äö"}`:           {1},
		`{"$regex":"\\x00"}`:            {0},
		`{"$regex":"[[:alpha:]]"}`:      {0, 1, 2, 3, 5, 6, 7},
		`{"$regex":"(?<x>a)"}`:          {0, 3, 5, 7},
		`{"$or":[{"$contains":"tab"},{"$and":[{"$contains":"a"},{"$contains":"b\\c"}]}]}`: {3, 5},
	} {
		w, err := ParseWhereDocument([]byte(where))
		if err != nil {
			t.Fatal(where, err)
		}
		got := []int{}
		for i := range len(docs) + 1 {
			var doc *string
			if i < len(docs) {
				doc = &docs[i]
			}
			if MatchDocument(w, doc) {
				got = append(got, i)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", where, d)
		}
	}
}

func TestRustExpressionsAreTranslatedOrRefused(t *testing.T) {
	for _, tc := range []struct {
		pattern, text string
		want          bool
	}{
		{`\d`, "٣", true}, // ARABIC-INDIC DIGIT THREE
		{`^\D$`, "٣", false},
		{`^\w+$`, "größe_1", true},
		{`^[\w-]+$`, "größe-1", true},
		{`^\W$`, "ö", false},
		{`^\s$`, " ", true}, // NO-BREAK SPACE
		{`^\s$`, "\v", true},
		{`^\S$`, " ", false},
		{`[]a]`, "]", true},
		{`[^]a]`, "]", false},
		{`[[:digit:]x]+`, "1x", true},
		{`a\.b`, "axb", false},
		{`\\d`, `\d`, true},
	} {
		re, err := compileRegex(tc.pattern)
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
		} else if got := re.MatchString(tc.text); got != tc.want {
			t.Errorf("%s on %q: %v", tc.pattern, tc.text, got)
		}
	}
	for _, pattern := range []string{`(`, `[a[b]]`, `[a&&b]`, `[a--b]`, `[\D]`, `\Qx\E`, `\1`, `\b{start}`, `(?x)a`, `a\`, `(?=a)`, `[[:alpha`} {
		w := TextMatch{Op: Regex, Text: pattern}
		var refused *UnsupportedFilterError
		if _, err := CompileDocument(w); !errors.As(err, &refused) {
			t.Errorf("%s: %v", pattern, err)
		}
		if MatchDocument(w, new(string)) || MatchDocument(TextMatch{Op: NotRegex, Text: pattern}, new(string)) {
			t.Errorf("%s: a refused expression matched", pattern)
		}
	}
}

func TestFiltersThatChromaRefusesAreRefused(t *testing.T) {
	for _, where := range []string{
		`{"n":{"$in":[1,"a"]}}`, `{"n":{"$in":[1,2.5]}}`, `{"n":{"$nin":[true,1]}}`, `{"n":9223372036854775808}`,
		`{"#document":{"$contains":"x"}}`, `{"n":{"$gt":true}}`,
	} {
		var refused *UnsupportedFilterError
		if _, err := ParseWhere([]byte(where)); !errors.As(err, &refused) {
			t.Errorf("%s: %v", where, err)
		}
	}
}

func TestQueuedMetadataIsNeverRepairedOnTheWay(t *testing.T) {
	for _, text := range []string{
		"null", "[]", "1", `{"a":1}}`, `{"a":1}{}`, `{"a":{"indices":[1]}}`, `{"a":[1,"x"]}`, `{"a":[[1]]}`, "{\"a\":\"\xff\"}",
		`{"a":"\ud800"}`, `{"a":"\udc00x"}`, `{"a":"\ud800\u0041"}`, `{"a":"\ud800\ud800"}`, "", "{",
	} {
		if m, _, err := ParseMetadata([]byte(text)); err == nil {
			t.Errorf("%q was taken for %v", text, m)
		}
	}
	m, deleted, err := ParseMetadata([]byte(`{"a":[1,2.5],"e":[],"p":"\ud83d\ude00\\ud800","x":"\\\\udc00"}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Metadata{"a": []float64{1, 2.5}, "p": "😀\\ud800", "x": `\\udc00`}, m); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"e"}, deleted); d != "" {
		t.Error(d)
	}
}
