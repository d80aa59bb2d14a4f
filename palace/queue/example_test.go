package queue_test

import (
	"context"
	"fmt"
	"os"

	"castellan/palace/backend"
	"castellan/palace/queue"
)

// shelf stands for a palace that is free again.
type shelf struct{}

func (shelf) Apply(_ context.Context, e queue.Entry) error {
	for _, r := range e.Records {
		fmt.Printf("%s %s: %s\n", e.Operation, r.ID, *r.Document)
	}
	for _, id := range e.IDs {
		fmt.Printf("%s %s\n", e.Operation, id)
	}
	return nil
}

func Example() {
	ctx := context.Background()
	state, err := os.MkdirTemp("", "castellan-queue-") // a program asks action.StateDir
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(state)
	q, err := queue.Open(state, "c77e7cd1a6f4b2f3", queue.Options{}) // locks.Key of the palace
	if err != nil {
		fmt.Println(err)
		return
	}

	// Somebody holds the palace: the writes are kept.
	text := "we chose SQLite"
	for _, e := range []queue.Entry{
		{Palace: "/palaces/work", Operation: queue.Upsert, Collection: "mempalace_drawers",
			Records: []backend.Record{{ID: "a", Document: &text, Embedding: []float32{1, 0}}}},
		{Palace: "/palaces/work", Operation: queue.Delete, Collection: "mempalace_drawers", IDs: []string{"b"}},
	} {
		if _, err := q.Park(ctx, e); err != nil {
			fmt.Println(err)
			return
		}
	}
	waiting, err := q.Pending("mempalace_drawers")
	fmt.Println(waiting, "wait", err)

	// It is free again.
	drained, err := q.Drain(ctx, shelf{})
	fmt.Println(drained.Applied, "applied,", drained.Left, "left", err)

	// Output:
	// 2 wait <nil>
	// upsert a: we chose SQLite
	// delete b
	// 2 applied, 0 left <nil>
}
