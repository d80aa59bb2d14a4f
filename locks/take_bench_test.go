package locks

import (
	"context"
	"testing"
)

func BenchmarkTakeRelease(b *testing.B) {
	h := home(b)
	p := palaceIn(b, h)
	for b.Loop() {
		l, err := Take(b.Context(), Target{Path: p}, TakeOptions{Home: h})
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Release(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNestedWrite is what the write seam costs under a lease.
func BenchmarkNestedWrite(b *testing.B) {
	h := home(b)
	target := Target{Path: palaceIn(b, h)}
	err := Do(b.Context(), target, TakeOptions{Home: h}, func(ctx context.Context) error {
		for b.Loop() {
			if err := Do(ctx, target, TakeOptions{Home: h}, func(context.Context) error { return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkTakeSource(b *testing.B) {
	h := home(b)
	for b.Loop() {
		s, err := TakeSource(b.Context(), "/home/u/p/a.md", SourceOptions{Home: h})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Release(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRefusal includes naming the holder.
func BenchmarkRefusal(b *testing.B) {
	h := home(b)
	target := Target{Path: palaceIn(b, h)}
	l, err := Take(b.Context(), target, TakeOptions{Home: h})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Release()
	for b.Loop() {
		if _, err := Take(b.Context(), target, TakeOptions{Home: h}); err == nil {
			b.Fatal("taken twice")
		}
	}
}
