package views

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"castellan/ui/uitest"
)

func TestPausedSavesAreResumedByName(t *testing.T) {
	t.Parallel()
	site := newSite(t, "fresh")
	file := filepath.Join(site.home, ".mempalace", "config.json")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, site, uitest.Plain(), 100, 30)
	resume := func() {
		d.keys(":")
		for _, k := range uitest.Type("resume") {
			d.send(k)
		}
		d.keys("enter")
	}
	resume()
	d.shows("Not now", "not paused by Castellan")
	d.keys("q")
	h, err := site.Core.(*core).hooks(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Pause(); err != nil {
		t.Fatal(err)
	}
	resume()
	d.agree()
	d.finish()
	d.shows("Automatic saves are as they were before")
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(before) || strings.Contains(string(after), "auto_save") {
		t.Errorf("%v: %s", err, after)
	}
}
