package queue

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// damaged parks a and b in one collection and c in another, and damages a.
func damaged(t *testing.T, damage func(path string, content []byte)) (*Queue, []string) {
	t.Helper()
	q := open(t, Options{})
	names := park(t, q, to("x", "a"), to("x", "b"), to("y", "c"))
	path := q.path(names[0] + entrySuffix)
	content, err := os.ReadFile(path)
	must(t, err)
	damage(path, content)
	return q, names
}

func TestADamagedEntryIsSetAsideAndStopsOnlyItsCollection(t *testing.T) {
	t.Parallel()
	rewrite := func(change func([]byte) []byte) func(string, []byte) {
		return func(path string, content []byte) { must(t, os.WriteFile(path, change(content), 0o600)) }
	}
	for name, damage := range map[string]func(path string, content []byte){
		"empty":     rewrite(func([]byte) []byte { return nil }),
		"zeros":     rewrite(func(b []byte) []byte { return make([]byte, len(b)) }),
		"half":      rewrite(func(b []byte) []byte { return b[:len(b)/2] }),
		"one short": rewrite(func(b []byte) []byte { return b[:len(b)-1] }),
		"one more":  rewrite(func(b []byte) []byte { return append(b, '\n') }),
		"a flipped bit in the body": rewrite(func(b []byte) []byte {
			b[len(b)-10] ^= 4
			return b
		}),
		"a flipped bit in the head": rewrite(func(b []byte) []byte {
			b[40] ^= 1
			return b
		}),
		"a newer version": rewrite(func(b []byte) []byte {
			return bytes.Replace(b, []byte(magic+"1"), []byte(magic+"2"), 1)
		}),
		"a directory": func(path string, _ []byte) {
			must(t, os.Remove(path))
			must(t, os.Mkdir(path, 0o700))
		},
		"a link": func(path string, content []byte) {
			must(t, os.WriteFile(path+".away", content, 0o600))
			must(t, os.Remove(path))
			must(t, os.Symlink(path+".away", path))
		},
	} {
		q, names := damaged(t, damage)
		a := &applier{}
		for range 2 {
			if _, err := q.Drain(t.Context(), a); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		wantIDs(t, a.ids(), "c")
		list := listed(t, q)
		if len(list) != 2 || list[0].Name != names[0] || list[0].State != StateSetAside || !strings.Contains(list[0].LastRefusal, names[0]) {
			t.Errorf("%s: %+v", name, list)
		}
		// The same write can be parked again: the damaged one never will be made.
		if again := park(t, q, to("x", "a")); again[0] == names[0] {
			t.Errorf("%s: a damaged entry was given for the parked one", name)
		}
		must(t, q.Drop(t.Context(), names[0]))
		if d, err := q.Drain(t.Context(), a); err != nil || d.Left != 0 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		wantIDs(t, a.ids(), "c", "b", "a")
	}
}

func TestEveryCutOfAnEntryIsNoticed(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	names := park(t, q, to("x", "a"))
	path := q.path(names[0] + entrySuffix)
	content, err := os.ReadFile(path)
	must(t, err)
	other := filepath.Join(t.TempDir(), "entry")
	for n := range content {
		must(t, os.WriteFile(other, content[:n], 0o600))
		if _, _, err := readEntry(other, 1<<20); !errors.As(err, new(*PoisonedError)) {
			t.Fatalf("%d of %d bytes: %v", n, len(content), err)
		}
	}
	for n := range content {
		flipped := bytes.Clone(content)
		flipped[n] ^= 0x20
		must(t, os.WriteFile(other, flipped, 0o600))
		if _, _, err := readEntry(other, 1<<20); !errors.As(err, new(*PoisonedError)) {
			t.Fatalf("byte %d: %v", n, err)
		}
	}
}

func TestAnEntryUnderAnothersNameIsNotApplied(t *testing.T) {
	t.Parallel()
	q := open(t, Options{})
	names := park(t, q, to("x", "a"))
	must(t, os.Rename(q.path(names[0]+entrySuffix), q.path(slotName(1, "y", "a")+entrySuffix)))
	a := &applier{}
	d, err := q.Drain(t.Context(), a)
	must(t, err)
	if len(d.SetAside) != 1 || len(a.got) != 0 {
		t.Errorf("%+v, applied %q", d, a.ids())
	}
}

func TestALostStatusSaysThatTheOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "{", `{"state":"done"}`, strings.Repeat(" ", 1<<20)} {
		q := open(t, Options{})
		names := park(t, q, to("x", "a"))
		must(t, os.WriteFile(q.path(names[0]+stateSuffix), []byte(content), 0o600))
		if e := listed(t, q)[0]; e.State != StateUnknown || e.Attempts == 0 {
			t.Errorf("%+v", e)
		}
		a := &applier{}
		if _, err := q.Drain(t.Context(), a); err != nil || len(a.got) != 1 || a.got[0].State != StateUnknown {
			t.Errorf("%v, %+v", err, a.got)
		}
	}
}

func FuzzAnEntrysFileNeverPanics(f *testing.F) {
	dir := f.TempDir()
	q, err := Open(dir, testKey, Options{})
	if err != nil {
		f.Fatal(err)
	}
	kept, err := q.Park(f.Context(), entry("a", 0))
	if err != nil {
		f.Fatal(err)
	}
	content, err := os.ReadFile(q.path(kept.Name + entrySuffix))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(magic + "1\n{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "entry")
		must(t, os.WriteFile(path, b, 0o600))
		if _, _, err := readEntry(path, 1<<20); err != nil && !errors.As(err, new(*PoisonedError)) {
			t.Errorf("%T %v", err, err)
		}
	})
}
