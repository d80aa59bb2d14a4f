package views

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"castellan/ui/uitest"
)

// deadline is when a test gives up; it is no measure of speed.
const deadline = 3 * time.Minute

func jsonString(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// plainSession answers the questions of the plain form and gives back all that it
// said.
func plainSession(t *testing.T, core Core, answers ...string) string {
	t.Helper()
	wait := deadline // a slow machine must not change what is said
	if _, staged := core.(*stage); staged {
		wait = 0
	}
	var out bytes.Buffer
	err := Run(context.Background(), Options{Core: core, Theme: uitest.Color(), Home: fakeHome, Version: "1.0", Plain: true,
		In: strings.NewReader(strings.Join(answers, "\n") + "\n"), Out: &out,
		Now: func() time.Time { return noon }, Getenv: func(string) string { return "" }, wait: wait})
	if err != nil {
		t.Fatalf("%v after\n%s", err, out.String())
	}
	return out.String()
}

func TestThePlainFormReadsAPalaceOut(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy", "quarantine-holds-more")
	uitest.Golden(t, "plain-tour.txt", plainSession(t, site, "?", "1", "2", "1", "3", "n", "/mutex", "1", "x", "b", "b", "3", "1", "b", "b", "2", "b", "p", "q"))
}

func TestThePlainFormEndsWithItsInput(t *testing.T) {
	t.Parallel()
	out := plainSession(t, newSite(t, "healthy"), "1")
	if !strings.Contains(out, "Nothing is wrong") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
}

func TestThePlainFormGoesOnWithoutASilentPalace(t *testing.T) {
	t.Parallel()
	s := newStage(newSite(t, "healthy", "fresh"))
	s.blocked = nil
	s.hang(fakeHome + "/palaces/healthy")
	out := plainSession(t, s, "2", "b", "q")
	for _, want := range []string{"1. ~/palaces/healthy: still being read", "2. ~/palaces/fresh: ", "~/palaces/fresh"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestThePlainFormEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	in, feed := io.Pipe()
	defer feed.Close()
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{Core: newSite(t, "fresh"), Plain: true, In: in, Out: io.Discard})
	}()
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestWithoutATerminalThereAreNoScreens(t *testing.T) {
	t.Parallel()
	err := Run(context.Background(), Options{Core: newSite(t, "fresh"), In: strings.NewReader(""), Out: io.Discard})
	var no *NoTerminalError
	if !errors.As(err, &no) || !strings.Contains(err.Error(), "castellan status") {
		t.Errorf("%v", err)
	}
}
