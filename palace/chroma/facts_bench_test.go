package chroma

import (
	"context"
	"os"
	"testing"
)

// BenchmarkFacts reads a large palace's counts and sets, as every refresh of a
// changed palace does. CASTELLAN_BIG_PALACE names one made by
// go run ./testdata/genpalace.
func BenchmarkFacts(b *testing.B) {
	dir := os.Getenv("CASTELLAN_BIG_PALACE")
	if dir == "" {
		b.Skip("CASTELLAN_BIG_PALACE is not set")
	}
	p, err := Open(context.Background(), dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		if _, err := p.Facts(context.Background(), Sampled); err != nil {
			b.Fatal(err)
		}
	}
}
