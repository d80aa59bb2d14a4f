package pickle

import (
	"bytes"
	"context"
	"testing"
)

func BenchmarkRead200k(b *testing.B) {
	all := rows(200_000)
	for _, c := range []struct {
		name string
		file []byte
	}{{"rust", rust(all, 200_000)}, {"python", python(all, 200_000)}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.file)))
			b.ReportAllocs()
			for b.Loop() {
				m, err := Read(context.Background(), bytes.NewReader(c.file), int64(len(c.file)))
				if err != nil || len(m.IDs) != 200_000 || !m.Consistent() {
					b.Fatalf("%+v %v", m, err)
				}
			}
		})
	}
}
