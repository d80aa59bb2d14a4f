package health

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"castellan/palace"
	"castellan/palace/specimen"
)

func TestGrowthIsRememberedOutsideThePalace(t *testing.T) {
	dir, state := makeSpecimen(t, "never-flushed"), filepath.Join(t.TempDir(), "state")
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	e := examinerIn(t, t.TempDir())
	e.opts.Now = func() time.Time { return now }
	e.history.file = filepath.Join(state, growthFile)
	found := palace.Found{Ref: e.opts.Manager.Examine(context.Background(), dir).Ref}
	before, err := specimen.HashTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r := e.Report(context.Background(), found, Sampled); r.Growth != nil {
		t.Fatalf("%+v", r.Growth)
	}
	if _, err := os.Stat(state); err == nil {
		t.Fatal("a glance left something behind")
	}
	if r := e.Report(context.Background(), found, Full); r.Growth != nil {
		t.Fatalf("%+v", r.Growth)
	}
	if info, err := os.Stat(e.history.file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	after, err := specimen.HashTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := specimen.Diff(before, after); len(d) > 0 {
		t.Errorf("the palace was changed: %v", d)
	}
	if err := os.WriteFile(filepath.Join(dir, "tunnels.json"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	now = now.Add(3 * time.Hour)
	g := e.Report(context.Background(), found, Sampled).Growth
	if g == nil || g.Since != "2026-05-01T12:00:00Z" || g.Bytes.Now-g.Bytes.Before < 1<<19 || len(g.Collections) != 1 || g.Collections[0].Rows != (Change{5, 5}) || g.Collections[0].Capacity != (Change{100, 100}) {
		t.Fatalf("%+v", g)
	}
	if err := os.Remove(filepath.Join(dir, "tunnels.json")); err != nil {
		t.Fatal(err)
	}
	for range 3 * mostLooks {
		now = now.Add(2 * time.Hour)
		e.Report(context.Background(), found, Full)
	}
	if g := e.Report(context.Background(), found, Sampled).Growth; g.Looks != mostLooks {
		t.Errorf("%d looks are remembered", g.Looks)
	}
	for range 5 {
		now = now.Add(time.Minute)
		e.Report(context.Background(), found, Full)
	}
	if all, err := e.history.read(); err != nil || len(all) != 1 || len(all[*e.Report(context.Background(), found, Sampled).Palace.RealPath]) > mostLooks {
		t.Error(all, err)
	}
	// Nobody's history: begun anew.
	if err := os.WriteFile(e.history.file, []byte("{{{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := e.Report(context.Background(), found, Full); r.Growth != nil {
		t.Errorf("%+v", r.Growth)
	}
}
