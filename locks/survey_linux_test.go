package locks

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// sixThousand fills a lock directory as years of mining leave it.
func sixThousand(t testing.TB, h string) {
	t.Helper()
	for i := range 6000 {
		write(t, filepath.Join(Directory(h), SourceKey(fmt.Sprint("/home/u/p/", i))+lockSuffix), "")
	}
}

func TestThousandsOfDeadSourceLocksAreOneLine(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	sixThousand(t, h)
	o := observe(h, Options{SampleInterval: -1})
	a := act(t, part{Lock: lockFile(t, h, p)}, "mempalace", "mine")
	s := survey(t, o, Target{Path: p})
	if s.Sources.Total != 6000 || len(s.Sources.Held) != 0 || !s.Sources.Known {
		t.Errorf("%+v", s.Sources)
	}
	if v := s.Palace(p); v.Lock.State != Held || v.Lock.Holder.PID != a.pid {
		t.Errorf("%+v", v.Lock)
	}
	key := SourceKey("/home/u/p/17")
	b := act(t, part{Lock: filepath.Join(Directory(h), key+lockSuffix)}, "mempalace", "mine")
	s = survey(t, o, Target{Path: p})
	if len(s.Sources.Held) != 1 || s.Sources.Held[0].Key != key || s.Sources.Held[0].Holder.PID != b.pid {
		t.Errorf("%+v", s.Sources.Held)
	}
}

func TestPalacesNobodyAskedAboutAreListed(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	write(t, File(Directory(h), "00000000000000ff"), "\x004194304 mempalace mine")
	write(t, File(Directory(h), "00000000000000aa"), "")
	a := act(t, part{Lock: File(Directory(h), "00000000000000aa")}, "mempalace", "mine")
	s := survey(t, observe(h, Options{SampleInterval: -1}), Target{Path: p})
	if len(s.PalaceLocks) != 3 {
		t.Fatalf("%+v", s.PalaceLocks)
	}
	if l := s.PalaceLocks[0]; l.Palace != p || l.State != Free || l.LastHolder != nil {
		t.Errorf("never locked: %+v", l)
	}
	if l := s.PalaceLocks[1]; l.Palace != "" || l.State != Held || l.Holder.PID != a.pid {
		t.Errorf("%+v", l)
	}
	if l := s.PalaceLocks[2]; l.State != Free || l.LastHolder == nil || l.LastHolder.PID != 4194304 {
		t.Errorf("%+v", l)
	}
}

// tree maps each path to what must not change by looking.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		body := ""
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			body = string(raw)
		}
		out[path] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano(), body)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	other := filepath.Join(h, "other")
	write(t, filepath.Join(h, ".mempalace", "hook_state", "mine_pids", "mine_0123456789abcdef.pid"), "1 1")
	write(t, File(Directory(h), Key(other)), "\x004194304 mempalace mine")
	write(t, filepath.Join(Directory(h), SourceKey("a")+lockSuffix), "")
	act(t, part{Lock: lockFile(t, h, p), Body: "PID mempalace mine", Open: []string{filepath.Join(p, "chroma.sqlite3")}}, "mempalace", "mine")
	before := tree(t, h)
	o := observe(h, Options{SampleInterval: minGap})
	for range 2 {
		survey(t, o, Target{Path: p}, Target{Path: other}, Target{Path: filepath.Join(h, "nowhere")})
		view(t, o, p)
	}
	if after := tree(t, h); !maps.Equal(before, after) {
		t.Errorf("before %v\nafter %v", before, after)
	}
}

func TestOneObserverServesManyAtOnce(t *testing.T) {
	t.Parallel()
	h := home(t)
	p := palaceIn(t, h)
	a := act(t, part{Lock: lockFile(t, h, p)}, "mempalace", "mine")
	o := observe(h, Options{SampleInterval: minGap})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 3 {
				v, err := o.Palace(t.Context(), Target{Path: p})
				if err != nil || v.Lock.State != Held || v.Lock.Holder.PID != a.pid {
					t.Errorf("goroutine %d: %+v, %v", i, v.Lock, err)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkSurveySixThousand(b *testing.B) {
	h := home(b)
	p := palaceIn(b, h)
	sixThousand(b, h)
	act(b, part{Lock: lockFile(b, h, p), Body: "PID mempalace mine", Open: []string{filepath.Join(p, "chroma.sqlite3")}}, "mempalace", "mine")
	o := observe(h, Options{})
	target := Target{Path: p}
	survey(b, o, target) // the holder's first sample
	time.Sleep(minGap)
	for b.Loop() {
		if s := survey(b, o, target); s.Sources.Total != 6000 || s.PalaceLocks[0].State != Held {
			b.Fatalf("%+v", s.Sources)
		}
	}
}

func BenchmarkOnePalace(b *testing.B) {
	h := home(b)
	p := palaceIn(b, h)
	sixThousand(b, h)
	o := observe(h, Options{})
	for b.Loop() {
		if v := view(b, o, p); v.Lock.State != Free {
			b.Fatalf("%+v", v.Lock)
		}
	}
}
