//go:build interop && unix

package embed

import (
	"slices"
	"syscall"
	"testing"
)

func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkBesideChroma measures CPU time, not time on the wall: other work on
// the machine does not count.
func BenchmarkBesideChroma(b *testing.B) {
	dir := trained(b)
	m := load(b, dir)
	text := prose()[32]
	texts := slices.Repeat([]string{text}, 40)
	theirs := float64(len(texts)) / ask[float64](b, texts, "rate", dir)
	s := new(scratch)
	before := cpuSeconds(b)
	for range texts {
		if _, err := m.network.forward(b.Context(), m.Tokenizer().Encode(text), s); err != nil {
			b.Fatal(err)
		}
	}
	ours := float64(len(texts)) / (cpuSeconds(b) - before)
	b.ReportMetric(ours, "texts/CPU-s")
	b.ReportMetric(theirs, "chroma-texts/CPU-s")
	b.ReportMetric(ours/theirs, "ratio")
	b.ReportMetric(float64(len(m.Tokenizer().Encode(text))), "tokens")
}
