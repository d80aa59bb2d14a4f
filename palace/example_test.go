package palace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/backend"
)

// scratch is a home for one example, and a manager that lives in it.
func scratch() (home string, m *palace.Manager, end func()) {
	home, err := os.MkdirTemp("", "castellan-example-")
	if err != nil {
		panic(err)
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		panic(err)
	}
	m = palace.NewManager(palace.Options{Home: home, Env: func(string) string { return "" },
		Watch: locks.NewObserver(locks.Options{Home: home, SampleInterval: -1})})
	return home, m, func() { fmt.Println("closed:", errors.Join(m.Close(), os.RemoveAll(home))) }
}

func drawer(id, text string) backend.Record {
	return backend.Record{ID: id, Document: &text, Metadata: backend.Metadata{"wing": "home", "room": "kitchen"}, Embedding: []float32{1, 0, 2}}
}

// Make a palace, write to it, read it, close it.
func Example() {
	home, m, end := scratch()
	defer end()
	ctx := context.Background()

	p, err := m.Create(ctx, filepath.Join(home, "palace"), backend.Chroma)
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := p.CreateCollection(ctx, backend.NewCollection{Name: "mempalace_drawers"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Upsert(ctx, []backend.Record{drawer("a", "the kettle sings"), drawer("b", "the clock is slow")}); err != nil {
		fmt.Println(err)
		return
	}
	err = backend.Walk(ctx, w, backend.Query{Include: backend.Documents | backend.Metadatas}, func(r backend.Record) error {
		fmt.Println(r.ID, *r.Document, r.Metadata["room"])
		return nil
	})
	fmt.Println(err)
	// Output:
	// a the kettle sings kitchen
	// b the clock is slow kitchen
	// <nil>
	// closed: <nil>
}

// A handle that was closed is closed for everybody who shares it, and for ever.
// The directory can be deleted and made again; opening it gives a new handle.
func ExamplePalace_Close() {
	home, m, end := scratch()
	defer end()
	ctx := context.Background()
	dir := filepath.Join(home, "palace")

	p, err := m.Create(ctx, dir, backend.SQLiteExact)
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := p.CreateCollection(ctx, backend.NewCollection{Name: "mempalace_drawers"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Close(), p.Close())
	err = w.Upsert(ctx, []backend.Record{drawer("late", "after the end")})
	fmt.Println(errors.Is(err, backend.ErrClosed))

	fmt.Println(os.RemoveAll(dir))
	again, err := m.Create(ctx, dir, backend.SQLiteExact)
	fmt.Println(again != p, err)
	// Output:
	// <nil> <nil>
	// true
	// <nil>
	// true <nil>
	// closed: <nil>
}

// Several writes under one lease: nobody else writes in between, MemPalace
// included.
func ExamplePalace_LockTarget() {
	home, m, end := scratch()
	defer end()
	ctx := context.Background()

	p, err := m.Create(ctx, filepath.Join(home, "palace"), backend.Chroma)
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := p.CreateCollection(ctx, backend.NewCollection{Name: "mempalace_drawers"})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = locks.Do(ctx, p.LockTarget(), locks.TakeOptions{Home: home}, func(leased context.Context) error {
		if err := w.Upsert(leased, []backend.Record{drawer("a", "the kettle sings")}); err != nil {
			return err
		}
		// Whoever has not been handed the lease is a stranger, also in this program.
		err := w.Upsert(ctx, []backend.Record{drawer("b", "the clock is slow")})
		var held *locks.HeldError
		fmt.Println(errors.As(err, &held) && held.Self)
		n, err := w.Delete(leased, backend.Filter{IDs: []string{"a"}})
		fmt.Println(n, err)
		return err
	})
	fmt.Println(err)
	// Output:
	// true
	// 1 <nil>
	// <nil>
	// closed: <nil>
}
