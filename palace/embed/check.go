package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// References are three sentences, and the cosines that the trained model gives
// for each two of them: first and second, first and third, second and third.
var (
	References = [3]string{"The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."}
	Expected   = [3]float64{0.6660, 0.1046, 0.1411}
)

// referenceError is how far a cosine may be off: what rounding of the expected
// figures and of the arithmetic can make, and far less than other weights do.
const referenceError = 1e-3

// Reference computes the cosines of the reference sentences and tells whether
// they are as expected.
func (m *Model) Reference(ctx context.Context) (got [3]float64, ok bool, err error) {
	v, err := m.Embed(ctx, References[:])
	if err != nil {
		return got, false, err
	}
	ok = true
	for i, pair := range [3][2]int{{0, 1}, {0, 2}, {1, 2}} {
		for j, x := range v[pair[0]] {
			got[i] += float64(x) * float64(v[pair[1]][j])
		}
		ok = ok && math.Abs(got[i]-Expected[i]) <= referenceError
	}
	return got, ok, nil
}

// Rate is how many texts of about 200 tokens the machine embeds in a second, one
// after the other, measured for about as long as given.
func (m *Model) Rate(ctx context.Context, about time.Duration) (float64, error) {
	text := strings.Repeat("We moved the ledger because it locked under the nightly import. ", 15)
	var times []time.Duration
	for start := time.Now(); len(times) < 3 || time.Since(start) < about && len(times) < 1000; {
		one := time.Now()
		if _, err := m.EmbedQuery(ctx, text); err != nil {
			return 0, err
		}
		times = append(times, time.Since(one))
	}
	// The median: the first text finds nothing in the caches of the processor.
	slices.Sort(times)
	return 1 / max(times[len(times)/2].Seconds(), 1e-9), nil
}

// Sum is the sha256 of the file with the weights.
func (m *Model) Sum(ctx context.Context) (string, error) {
	f, err := os.Open(m.weights)
	if err != nil {
		return "", &ModelError{m.weights, plainly(err)}
	}
	defer f.Close()
	return sum(ctx, f, m.weights)
}

func sum(ctx context.Context, r io.Reader, path string) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, &within{ctx, r}); err != nil {
		return "", fmt.Errorf("%s: reading it: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// within is a reader that ends with its context.
type within struct {
	ctx context.Context
	io.Reader
}

func (w *within) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Reader.Read(p)
}

// KnownSum says whose file has this sha256: all hold the same weights. Empty
// for any other, which the reference sentences then have to judge.
func KnownSum(sum string) string {
	switch sum {
	case "4f148ba8ae9c2c7fbee4af2b132db8d06c6a6545b47fc83bbb98c3d22b8393e6":
		return "Chroma's model.onnx"
	case "759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e":
		return "LangChain4j's model.onnx"
	case "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db":
		return "Sentence Transformers' model.safetensors"
	}
	return ""
}
