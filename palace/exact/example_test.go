package exact_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"castellan/palace/backend"
	"castellan/palace/exact"
)

// The engine by itself takes no lock of MemPalace's: whoever writes by way of a
// palace.Manager has that done for them.
func Example() {
	dir, err := os.MkdirTemp("", "castellan-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	w, err := exact.Create(ctx, filepath.Join(dir, "palace"), exact.Options{}, exact.Writing{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	c, err := w.CreateCollection(ctx, backend.NewCollection{Name: "mempalace_drawers"})
	if err != nil {
		fmt.Println(err)
		return
	}
	file := func(id, text string, vector ...float32) backend.Record {
		return backend.Record{ID: id, Document: &text, Metadata: backend.Metadata{"wing": "home"}, Embedding: vector}
	}
	fmt.Println(c.Add(ctx, []backend.Record{file("a", "the kettle sings", 1, 0), file("b", "the clock is slow", 0, 1)}))
	err = c.Add(ctx, []backend.Record{file("c", "its vector is too long", 1, 2, 3)})
	var mismatch *exact.DimensionMismatchError
	fmt.Println(errors.As(err, &mismatch), mismatch.Want, mismatch.Got)
	n, err := c.Count(ctx, backend.Filter{Where: backend.Equal("wing", "home")})
	fmt.Println(n, err)
	fmt.Println(w.Close())
	_, err = c.Count(ctx, backend.Filter{})
	fmt.Println(errors.Is(err, backend.ErrClosed))
	// Output:
	// <nil>
	// true 2 3
	// 2 <nil>
	// <nil>
	// true
}
