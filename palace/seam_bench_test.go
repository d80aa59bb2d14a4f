package palace

import (
	"context"
	"os"
	"testing"

	"castellan/locks"
	"castellan/palace/backend"
	"castellan/palace/specimen"
)

// What the seam adds to a write: the routing, the palace's keys, the lock.
func BenchmarkAWriteThroughTheSeam(b *testing.B) {
	home, dir := b.TempDir(), b.TempDir()
	if err := specimen.CopyFS(os.DirFS("../testdata/palaces"), "fresh", dir); err != nil {
		b.Fatal(err)
	}
	m := NewManager(Options{Home: home, WorkDir: home, Env: func(string) string { return "" }})
	defer m.Close()
	m.openers = map[backend.Kind]opener{backend.Chroma: func(context.Context, string) (backend.Backend, error) { return &fakeStore{}, nil }}
	p, err := m.Open(b.Context(), backend.Ref{Path: dir})
	if err != nil {
		b.Fatal(err)
	}
	w, err := p.Writer(b.Context(), "drawers")
	if err != nil {
		b.Fatal(err)
	}
	l, err := locks.Take(b.Context(), p.LockTarget(), locks.TakeOptions{Home: home})
	if err != nil {
		b.Fatal(err)
	}
	leased := locks.WithLease(b.Context(), l)
	b.Run("under a lease", func(b *testing.B) {
		for b.Loop() {
			if err := w.Upsert(leased, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	if err := l.Release(); err != nil {
		b.Fatal(err)
	}
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			if err := w.Upsert(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
