// Castellan is a terminal workbench for MemPalace palaces.
package main

import (
	"context"
	"embed"
	"io/fs"
	"log"
	"os"

	// Its path sorts before Bubble Tea's, and so it is initialised first: Bubble
	// Tea would ask the terminal for its background colour and wait five
	// seconds for a mute one.
	"castellan/theme"
	"castellan/views"
	"castellan/views/cli"
)

// recorded are small palaces that a real Chroma has written; the demo shows
// copies of them.
//
//go:embed all:testdata/palaces/fresh/palace all:testdata/palaces/healthy/palace all:testdata/palaces/synced/palace
var recorded embed.FS

func main() {
	samples, err := fs.Sub(recorded, "testdata/palaces")
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(cli.Program{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Samples: samples, Screens: screens,
	}.Main())
}

// screens shows the terminal UI in the theme that was asked for.
func screens(ctx context.Context, o cli.ScreenOptions) error {
	look := theme.Detect(os.Getenv, o.Out)
	look.Name = o.Theme
	th, err := theme.New(look)
	if err != nil {
		return err
	}
	return views.Run(ctx, views.Options{
		Core: views.NewCore(views.CoreOptions{
			Manager: o.Manager, Observer: o.Observer, Examiner: o.Examiner, Runner: o.Runner, StateDir: o.StateDir, Embedder: o.Embedder,
			Flag: o.Palace, Version: o.Version,
		}),
		Theme: th, ReadOnly: o.ReadOnly, Plain: o.Plain,
		Start: o.Palace, Home: o.Home, Version: o.Version,
		In: o.In, Out: o.Out,
	})
}
