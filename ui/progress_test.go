package ui

import (
	"strings"
	"testing"
	"time"

	"castellan/theme"
	"castellan/ui/uitest"
)

func TestBusyTicksOnlyWhileSomethingRuns(t *testing.T) {
	t.Parallel()
	clock := uitest.NewClock()
	b := NewBusy(clock.Now)
	if b.Tick() != nil {
		t.Error("it ticks with nothing to do")
	}
	if b.Begin("load") == nil {
		t.Error("it does not begin to tick")
	}
	if b.Begin("search") != nil {
		t.Error("a second ticker")
	}
	if got := b.View(uitest.ASCII(), "load"); got != "" {
		t.Errorf("a spinner at once: %q", got)
	}
	clock.Advance(150 * time.Millisecond)
	if b.Tick() == nil || b.View(uitest.ASCII(), "load") != "/" || !b.Running("load") {
		t.Errorf("after 150 ms: %q", b.View(uitest.ASCII(), "load"))
	}
	b.End("load")
	if b.View(uitest.ASCII(), "load") != "" || b.Tick() == nil {
		t.Error("the other one has stopped too")
	}
	b.End("search")
	if b.Tick() != nil {
		t.Error("it ticks on for nothing")
	}
	if b.Begin("again") == nil {
		t.Error("it does not begin again")
	}
}

func TestProgressTellsRateAndRemainder(t *testing.T) {
	t.Parallel()
	clock := uitest.NewClock()
	var p Progress
	p.Begin("Build", 2, 3, "drawers", clock.Now())
	step := func(d time.Duration, done, total int64) {
		clock.Advance(d)
		p.Set(done, total, clock.Now())
	}
	for i := int64(1); i <= 4; i++ {
		step(time.Second, i*100, 1100)
	}
	if got := p.Rate(clock.Now()); got != 100 {
		t.Errorf("rate %v, want 100", got)
	}
	if _, ok := p.Left(clock.Now()); ok {
		t.Error("a remainder is guessed after four seconds")
	}
	step(time.Second, 500, 1100)
	if left, ok := p.Left(clock.Now()); !ok || left != 6*time.Second {
		t.Errorf("left %v %v, want 6 s", left, ok)
	}
	view := p.View(uitest.ASCII(), "", 80, clock.Now())
	if !strings.HasPrefix(view, " 2/3 Build  ####") || !strings.Contains(view, "500 of 1,100 drawers  6 s left  100/s  5 s") {
		t.Errorf("%q", view)
	}
	clock.Advance(30 * time.Second)
	if view := p.View(uitest.ASCII(), "", 80, clock.Now()); !strings.Contains(view, "nothing moved for 30 s") || strings.Contains(view, "left") {
		t.Errorf("%q", view)
	}
	p.Wait("PID 4121")
	if view := p.View(uitest.ASCII(), "", 80, clock.Now()); !strings.Contains(view, "waiting for PID 4121") || strings.Contains(view, "nothing moved") {
		t.Errorf("%q", view)
	}
	step(time.Second, 10, 1100) // the run began anew
	if got := p.Rate(clock.Now()); got != 0 {
		t.Errorf("rate %v after a new beginning", got)
	}
	step(time.Second, 1100, 1100)
	if _, ok := p.Left(clock.Now()); ok {
		t.Error("a remainder after the end")
	}
}

func TestWithoutATotalThereIsNoBar(t *testing.T) {
	t.Parallel()
	clock := uitest.NewClock()
	var p Progress
	p.Begin("Gather", 0, 0, "files", clock.Now())
	clock.Advance(2 * time.Second)
	p.Set(1234, 0, clock.Now())
	if got, want := strings.TrimRight(p.View(uitest.ASCII(), "/", 60, clock.Now()), " "), " Gather /  1,234 files  617/s  2 s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProgressFrames(t *testing.T) {
	t.Parallel()
	uitest.Frames(t, "progress", func(th theme.Theme, w, h int) string {
		clock := uitest.NewClock()
		var p, wait, stalled, unknown Progress
		for _, x := range []*Progress{&p, &wait, &stalled, &unknown} {
			x.Begin("Build", 2, 3, "drawers", clock.Now())
		}
		clock.Advance(7 * time.Second)
		p.Set(1610, 2395, clock.Now())
		wait.Wait("PID 4121 mempalace mine ~/src")
		unknown.Set(1610, 0, clock.Now())
		later := clock.Now().Add(95 * time.Second)
		stalled.Set(20, 2395, clock.Now())
		return strings.Join([]string{
			p.View(th, "", w, clock.Now()), wait.View(th, "", w, clock.Now()),
			stalled.View(th, "", w, later), unknown.View(th, th.Glyphs.Spinner[1], w, clock.Now()),
		}, "\n")
	})
}

func TestProgressHoldsAnyWidth(t *testing.T) {
	t.Parallel()
	now := uitest.NewClock().Now()
	for _, s := range uitest.Hostile() {
		var p Progress
		p.Begin(s, 1, 2, s, now)
		p.Set(1<<60, 1<<62, now.Add(time.Hour))
		p.Wait(s)
		for w := -1; w < 60; w++ {
			uitest.Check(t, p.View(uitest.Color(), "x", w, now.Add(2*time.Hour)), max(w, 0), 1)
		}
	}
	var zero Progress
	if v := zero.View(uitest.ASCII(), "", 40, now); strings.Contains(v, "%") {
		t.Errorf("%q", v)
	}
}

func TestDurationsForPeople(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 59 * time.Second: "59 s", 4*time.Minute + 30*time.Second: "4 min",
		time.Hour: "1 h", 65 * time.Minute: "1 h 5 min", 30 * time.Hour: "30 h", 72 * time.Hour: "3 d",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
