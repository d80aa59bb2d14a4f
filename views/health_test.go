package views

import (
	"sync/atomic"
	"testing"
	"time"

	"castellan/palace/health"
)

func TestAFullCheckTellsHowFarItIs(t *testing.T) {
	began := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	r := &reading{fullAsked: began, fullDone: &atomic.Pointer[health.Progress]{}}
	if got := checking(r, began.Add(2*time.Second)); got != "checking everything, 2 s" {
		t.Errorf("%q before anything is known", got)
	}
	r.fullDone.Store(&health.Progress{Done: 1, Total: 4, Doing: "the vector index"})
	if got := checking(r, began.Add(2*time.Second)); got != "checking 25 %, the vector index, 2 s" {
		t.Errorf("%q", got)
	}
	g := &health.Growth{Since: "2026-04-30T10:00:00Z", Bytes: health.Change{Before: 3_000_000, Now: 1_000_000}}
	if got := growthWords(g); got != "; -2.0 MB since 2026-04-30" {
		t.Errorf("%q", got)
	}
	if got := growthWords(nil); got != "" {
		t.Errorf("%q", got)
	}
}
