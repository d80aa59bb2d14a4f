//go:build interop

package embed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// peer runs testdata/peer.py with the Python that has chromadb.
func peer(t testing.TB, in any, args ...string) []byte {
	t.Helper()
	python := os.Getenv("CASTELLAN_PYTHON")
	if python == "" {
		t.Skip("CASTELLAN_PYTHON names no Python with chromadb")
	}
	cmd := exec.CommandContext(t.Context(), python, append([]string{filepath.Join("testdata", "peer.py")}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = bytes.NewReader(b)
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, said.String())
	}
	return out
}

func ask[T any](t testing.TB, in any, args ...string) (answer T) {
	t.Helper()
	if err := json.Unmarshal(peer(t, in, args...), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

var prepared struct {
	sync.Once
	dir, skip string
}

// trained is all-MiniLM-L6-v2 itself, in both kinds of file: from the directory
// that CASTELLAN_TEST_MODEL names, or from a Python package.
func trained(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("CASTELLAN_TEST_MODEL"); dir != "" {
		return dir
	}
	prepared.Do(func() {
		dir, err := os.MkdirTemp("", "castellan-minilm-")
		if err != nil {
			t.Fatal(err)
		}
		prepared.dir = dir
		if out := string(peer(t, nil, "prepare", dir)); strings.HasPrefix(out, "SKIP") {
			prepared.skip = out
		}
	})
	if prepared.skip != "" {
		t.Skip(prepared.skip)
	}
	return prepared.dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	if prepared.dir != "" {
		os.RemoveAll(prepared.dir)
	}
	os.Exit(code)
}

var tricky = []string{
	"", " ", "a", "The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.",
	"naïve café, ÜBER-Maß; Ångström", "İstanbul ıI ΣΑΣ ς", "漢字とかな交じり文 한국어 ไทย हिन्दी", "e\u0301 e\u0301\u0327 ᾳ ﬁ ﬀ Ⅷ ①",
	"[CLS] [SEP] [MASK] [PAD] [UNK] [cls] [MASK][MASK]x[SEP", "a\x00b\ufffdc\u200bd\u00ade\u2028f\u3000g\th\r\ni",
	"👩‍👩‍👧 🇩🇪 ❤️", "func main() { fmt.Println(\"x\\n\") } // 0x1F_600", "https://example.org/a?b=c&d=%20#e", "################ ## #",
	strings.Repeat("a", 100), strings.Repeat("a", 101), strings.Repeat("é", 101), strings.Repeat("supercalifragilistic ", 200),
	strings.Repeat("x. ", 127), strings.Repeat("x ", 254), strings.Repeat("x ", 253) + "unaffordability", "١٢٣ ٪ « » „ “ ’ — … ·",
	"\u1734\u166d\U00011938\U000111c9\u061d\u0890\u1c89", "a" + strings.Repeat("\u0301", 40) + "b", "\u302e\u302f\U0001d165\U0001d16d가힣",
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

// prose is text as it is found in drawers, of all lengths.
func prose() (texts []string) {
	words := strings.Fields(`we moved the ledger to postgres because sqlite locked under the nightly import , and nobody
		could say which worker held it . Decision : keep one writer ; measure again in March ( see notes #42 ) ! Renée agreed`)
	for n := 1; n <= 40; n++ {
		var list []string
		for i := range n * 6 {
			list = append(list, words[(i*7+n*3+i*i)%len(words)])
		}
		texts = append(texts, strings.Join(list, " "))
	}
	return texts
}

func TestTheTrainedModelAnswersAsUnderChroma(t *testing.T) {
	dir := trained(t)
	texts := append(prose(), tricky...)
	wantIDs := ask[[][]int32](t, texts, "ids", dir)
	want := ask[[][]float32](t, texts, "vectors", dir)
	turned := t.TempDir()
	for _, name := range []string{configFile, tokenizerName, safetensorsFile} {
		if err := os.Symlink(filepath.Join(dir, name), filepath.Join(turned, name)); err != nil {
			t.Fatal(err)
		}
	}
	dirs := []string{dir}
	if _, err := os.Stat(filepath.Join(turned, safetensorsFile)); err == nil {
		dirs = append(dirs, turned)
	}
	for _, dir := range dirs {
		m := load(t, dir)
		got, err := m.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		lowest, largest := 1.0, 0.0
		for i, text := range texts {
			if ids := m.Tokenizer().Encode(text); !slices.Equal(ids, wantIDs[i]) {
				t.Errorf("%.40q: tokens %v, the reference has %v", text, ids, wantIDs[i])
			}
			lowest = min(lowest, cosine(got[i], want[i]))
			for j := range got[i] {
				largest = max(largest, float64(max(got[i][j]-want[i][j], want[i][j]-got[i][j])))
			}
		}
		t.Logf("%s: %d texts, lowest cosine %.9f, largest difference %.2g", filepath.Base(m.Weights()), len(texts), lowest, largest)
		if lowest < 0.99999 {
			t.Errorf("%s: lowest cosine %v", m.Weights(), lowest)
		}
	}
}

func TestEveryCodePointHasTheTokensOfTheReference(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of Python")
	}
	dir := trained(t)
	m := load(t, dir)
	lines := bufio.NewScanner(bytes.NewReader(peer(t, nil, "points", dir)))
	wrong := 0
	for r := rune(0); r <= 0x10FFFF; r++ {
		if 0xD800 <= r && r < 0xE000 {
			continue
		}
		if !lines.Scan() {
			t.Fatalf("the reference ends at U+%04X", r)
		}
		var got []string
		for _, id := range m.Tokenizer().Encode("a" + string(r) + "b") {
			got = append(got, strconv.Itoa(int(id)))
		}
		if g := strings.Join(got, " "); g != lines.Text() {
			if wrong++; wrong < 20 {
				t.Errorf("U+%04X: tokens %s, the reference has %s", r, g, lines.Text())
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d code points differ", wrong)
	}
}
