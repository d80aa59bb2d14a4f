package views

import (
	"strings"
	"testing"
	"time"

	"castellan/locks"
	"castellan/theme"
	"castellan/ui/uitest"
)

func TestFramesOfTheTimeline(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy", "fresh")
	path := fakeHome + "/palaces/healthy"
	uitest.Frames(t, "held-timeline", func(th theme.Theme, w, h int) string {
		s := newStage(site)
		d := newDriver(t, s, th, w, h)
		d.keys("p")
		look := func(times int) {
			for range times {
				d.wait(10 * time.Second)
			}
		}
		look(6)
		s.holder[path] = busyMine()
		look(12)
		s.waits[path] = []locks.Process{{PID: 4188, Command: "mempalace-mcp"}}
		look(6)
		s.holder[path], s.waits[path] = idleServer(), nil
		look(6)
		d.wait(4 * time.Minute) // the machine slept
		look(3)
		d.keys("z j j j j j j j")
		return d.frame()
	})
}

func TestATimelineTellsGapsSpellsAndWaits(t *testing.T) {
	t.Parallel()
	var s sight
	at := func(sec int) time.Time { return noon.Add(time.Duration(sec) * time.Second) }
	for sec := 0; sec <= 100; sec += 10 {
		s.looked = extend(s.looked, 0, "", at(sec))
		switch {
		case sec < 30:
			s.held = extend(s.held, 1, "mine", at(sec))
		case sec < 60:
			s.held = extend(s.held, 2, "mcp", at(sec))
		case sec < 80:
			s.held = extend(s.held, 1, "mine", at(sec))
		}
		if sec >= 40 && sec < 60 {
			s.wanted = extend(s.wanted, 1, "mine", at(sec))
		}
	}
	s.looked = extend(s.looked, 0, "", at(200)) // nobody looked between 100 and 200
	lanes := s.lanes()
	if len(lanes) != 2 || lanes[0].pid != 1 || len(lanes[0].held) != 2 || len(lanes[1].held) != 1 {
		t.Fatalf("%+v", lanes)
	}
	strip := words(lanes[0].strip(uitest.ASCII(), &s, at(0), at(200), 20))
	// A cell is ten seconds.
	if want := "###.ww##...        ."; strip != want {
		t.Errorf("%q, want %q", strip, want)
	}
	if got := lanes[0].words(0, at(200)); !strings.Contains(got, "held it for 30 s in 2 spells") || !strings.Contains(got, "waited for it 10 s") {
		t.Errorf("%q", got)
	}
}

func TestWarningsOfHolders(t *testing.T) {
	t.Parallel()
	writer := func(pid int, name string) locks.Opener {
		return locks.Opener{Process: locks.Process{PID: pid, Name: name, RSS: 50 << 20}, Files: []locks.OpenFile{{Path: "/p/chroma.sqlite3", Writable: true}}}
	}
	reader := locks.Opener{Process: locks.Process{PID: 7, Name: "reader"}, Files: []locks.OpenFile{{Path: "/p/chroma.sqlite3"}}}
	lost := writer(8, "mempalace-mcp")
	lost.Note = "still has the deleted chroma.sqlite3 open: its writes fail or are lost; restart it"
	orphan := idleServer()
	orphan.SharedWith = []int{9}
	for _, c := range []struct {
		what string
		view locks.PalaceView
		want []string
	}{
		{"one writer and a reader are fine", locks.PalaceView{Openers: []locks.Opener{writer(1, "mine"), reader}}, nil},
		{"two writers", locks.PalaceView{Openers: []locks.Opener{writer(1, "mine"), writer(2, "mcp")}}, []string{"2 processes have it open for writing: 1 mine, 2 mcp; together 105 MB of memory"}},
		{"a deleted database", locks.PalaceView{Openers: []locks.Opener{lost}}, []string{"PID 8 still has the deleted chroma.sqlite3 open"}},
		{"an orphan", locks.PalaceView{Lock: locks.PalaceLock{State: locks.Held, Holder: orphan}}, []string{"nobody is left to stop it", "1 other process shares its lock"}},
		{"a lock file that is gone", locks.PalaceView{Lock: locks.PalaceLock{State: locks.Held, Holder: busyMine(), Unlinked: true}}, []string{"there will be two"}},
	} {
		got := holderWarnings(c.view)
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", c.what, got)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i].text, want) {
				t.Errorf("%s: %q, want %q", c.what, got[i].text, want)
			}
		}
	}
}
