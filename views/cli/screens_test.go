package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"castellan/views/cli"
)

func TestScreensGetTheGlobalFlags(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var got *cli.ScreenOptions
	var out, errs bytes.Buffer
	in := strings.NewReader("")
	p := cli.Program{In: in, Out: &out, Err: &errs, Screens: func(_ context.Context, o cli.ScreenOptions) error {
		got = &o
		return nil
	}}
	p.Args = []string{"--plain", "--read-only", "--theme", "dark", "--palace", "somewhere"}
	if code := p.Run(t.Context()); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if got == nil || got.Palace != filepath.Join(dir, "somewhere") || got.Theme != "dark" || !got.ReadOnly || !got.Plain ||
		got.In != io.Reader(in) || got.Out != io.Writer(&out) || got.Manager == nil || got.Observer == nil || got.Examiner == nil || got.Runner == nil {
		t.Fatalf("%+v", got)
	}
	// What is no terminal carries the plain form only.
	got = nil
	p.Args = nil
	if code := p.Run(t.Context()); code != 2 || got != nil || !strings.Contains(errs.String(), "castellan status --json") {
		t.Fatalf("exit code %d, %+v: %s", code, got, errs.String())
	}
}

func TestScreensThatFailSayWhy(t *testing.T) {
	var errs bytes.Buffer
	p := cli.Program{Args: []string{"--plain"}, In: strings.NewReader(""), Out: io.Discard, Err: &errs,
		Screens: func(context.Context, cli.ScreenOptions) error { return errors.New("the terminal is gone") }}
	if code := p.Run(t.Context()); code != 1 || !strings.Contains(errs.String(), "the terminal is gone") {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
}
