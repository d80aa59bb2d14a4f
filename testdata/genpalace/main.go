// Genpalace makes a palace of any size, for benchmarks and for trying things:
//
//	go run ./testdata/genpalace -rows 200000 DIR
//
// DIR must not exist or be empty.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"castellan/palace/specimen"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "genpalace:", err)
		os.Exit(1)
	}
}

func run() error {
	var spec specimen.Spec
	flag.IntVar(&spec.Rows, "rows", 2000, "drawers")
	flag.IntVar(&spec.Dimension, "dimension", 384, "dimension of the vectors")
	flag.IntVar(&spec.DocumentChars, "chars", 800, "characters of each document")
	flag.IntVar(&spec.Queued, "queued", 0, "newest drawers whose vector is only in the queue")
	flag.BoolVar(&spec.Unflushed, "unflushed", false, "all vectors in the queue, none in the index")
	flag.IntVar(&spec.Wings, "wings", 8, "wings")
	flag.IntVar(&spec.RoomsPerWing, "rooms", 6, "rooms in each wing")
	flag.IntVar(&spec.SmallWings, "small-wings", 0, "further wings of one to three drawers, filed last")
	flag.IntVar(&spec.Closets, "closets", 0, "closets")
	flag.IntVar(&spec.SyncThreshold, "sync-threshold", 0, "writes after which Chroma flushes (default 1000; 50000 when unflushed)")
	flag.Uint64Var(&spec.Seed, "seed", 1, "another seed makes another palace")
	samples := flag.String("samples", "testdata/palaces", "directory of the sample palaces")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./testdata/genpalace [flags] DIR")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		return fmt.Errorf("one directory is needed, %d given", flag.NArg())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, start := flag.Arg(0), time.Now()
	if err := specimen.CopyFS(os.DirFS(*samples), "empty", dir); err != nil {
		return err
	}
	if err := specimen.Generate(ctx, dir, spec); err != nil {
		return err
	}
	fmt.Printf("%s: %d drawers in %s\n", dir, spec.Rows, time.Since(start).Round(time.Millisecond))
	return nil
}
