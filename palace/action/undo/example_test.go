package undo_test

import (
	"fmt"
	"io"
	"os"

	"castellan/palace/action/undo"
)

func Example() {
	state, err := os.MkdirTemp("", "castellan-undo-") // a program asks action.StateDir
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(state)
	store, err := undo.Open(state, "c77e7cd1a6f4b2f3", undo.Options{}) // locks.Key of the palace
	if err != nil {
		fmt.Println(err)
		return
	}

	// Under the palace's lease, and before anything is changed:
	id, _ := store.NewID()
	draft, err := store.Begin(id, undo.Repair, "/palaces/work", "Rebuild the index of work")
	if err != nil {
		fmt.Println(err)
		return
	}
	w, _ := draft.Create("header.bin")
	io.WriteString(w, "the old header")
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := draft.Commit("the header as it was"); err != nil {
		fmt.Println(err)
		return
	}

	// Later, to put it back:
	newest, err := store.Newest()
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := store.Open(newest, "header.bin")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	content, _ := io.ReadAll(f)
	fmt.Printf("%s: %s (%s)\n", newest.Title, newest.Summary, content)
	fmt.Println(store.MarkUndone(newest.ID))
	_, err = store.Newest()
	fmt.Println(err)

	// Output:
	// Rebuild the index of work: the header as it was (the old header)
	// <nil>
	// there is nothing to undo
}
