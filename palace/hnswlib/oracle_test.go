package hnswlib_test

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"castellan/palace/hnswlib"
	"castellan/palace/hnswlib/hnswtest"
)

// damage is one thing that happens to a file: bits flip, a stretch is zeroed, it
// is cut, or two stretches change places.
func damage(b []byte, how uint8, at, to, n int) []byte {
	if len(b) == 0 {
		return append(b, byte(at))
	}
	b = bytes.Clone(b)
	at, to = at%len(b), to%len(b)
	n = min(1+n%64, len(b)-at, len(b)-to)
	switch how % 5 {
	case 0:
		b[at] ^= 1 << (n % 8)
	case 1:
		clear(b[at : at+n])
	case 2:
		return b[:at]
	case 3:
		for i := range n {
			b[at+i], b[to+i] = b[to+i], b[at+i]
		}
	case 4:
		b[at] = byte(n * 37)
	}
	return b
}

var fileNames = []string{hnswlib.HeaderFile, hnswlib.Level0File, hnswlib.LengthFile, hnswlib.LinksFile}

// judged is what the package makes of files: anything to say against them?
func judged(t testing.TB, dir string, files map[string][]byte) (sound bool, why []hnswlib.Fault) {
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := hnswlib.Open(dir)
	if err != nil {
		return false, nil
	}
	defer r.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := r.ExamineWith(ctx, hnswlib.Exam{Dimension: 8, Cosine: true})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatalf("nothing is wrong with the disk: %v", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 32<<20 {
		t.Errorf("%d bytes allocated over %d elements", got, f.Header.Elements)
	}
	return len(f.Faults) == 0, f.Faults
}

func oracle(files map[string][]byte) error {
	return hnswtest.Oracle(hnswtest.Files{
		Header: files[hnswlib.HeaderFile], Level0: files[hnswlib.Level0File],
		Length: files[hnswlib.LengthFile], Links: files[hnswlib.LinksFile],
	}, 8, true, nil)
}

// sparse is a sound segment whose elements have few neighbours, so that a lost
// link loses an element.
func sparse(t testing.TB) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	err := hnswtest.Write(dir, hnswtest.Segment{Dimension: 8, M: 2, Cosine: true, Rough: true, Vectors: vectors(60, 8)})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range fileNames {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestNoDamageThatTheOracleSeesPassesForSound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for name, base := range map[string]map[string][]byte{"dense": sound(), "sparse": sparse(t)} {
		if err := oracle(base); err != nil {
			t.Fatal(name, err)
		}
		dir := t.TempDir()
		if ok, why := judged(t, dir, base); !ok {
			t.Fatalf("%s: the sound files have faults: %v", name, why)
		}
		seen, harmless := map[string]int{}, 0
		for range 300 {
			files := maps.Clone(base)
			victim := fileNames[rng.IntN(len(fileNames))]
			how := uint8(rng.UintN(5))
			at, to, n := rng.IntN(1<<20), rng.IntN(1<<20), rng.IntN(1<<10)
			files[victim] = damage(files[victim], how, at, to, n)
			want := oracle(files)
			ok, _ := judged(t, dir, files)
			if want != nil {
				seen[victim]++
				if ok {
					t.Fatalf("%s: %s, damage %d at %d, %d, %d passes for sound, and %v", name, victim, how, at, to, n, want)
				}
			} else {
				harmless++
			}
		}
		for _, file := range fileNames {
			if seen[file] < 10 {
				t.Errorf("%s: only %d damages of %s were any", name, seen[file], file)
			}
		}
		if harmless == 0 {
			t.Error(name + ": the oracle finds nothing sound: it could not tell a false alarm")
		}
	}
}

func FuzzDamage(f *testing.F) {
	for i := range 20 {
		f.Add(uint8(i), uint8(i/4), i*131, i*17, i)
	}
	base := sparse(f)
	f.Fuzz(func(t *testing.T, which, how uint8, at, to, n int) {
		if at < 0 || to < 0 || n < 0 {
			return
		}
		files := maps.Clone(base)
		victim := fileNames[int(which)%len(fileNames)]
		files[victim] = damage(files[victim], how, at, to, n)
		want := oracle(files)
		if ok, _ := judged(t, t.TempDir(), files); ok && want != nil {
			t.Errorf("%s passes for sound, and %v", victim, want)
		}
	})
}

func TestUnreachableElementsAreCountedAndNamed(t *testing.T) {
	t.Parallel()
	dir := small(t)
	// Nobody names elements 40 to 49 any more on level 0.
	b := bytes.Clone(sound()[hnswlib.Level0File])
	for i := range 300 {
		e := b[i*element : (i+1)*element]
		kept := 0
		for k := range int(e[0]) {
			n := e[4+4*k : 8+4*k]
			if at := int(n[0]) + int(n[1])<<8; at < 40 || at > 49 {
				copy(e[4+4*kept:], n)
				kept++
			}
		}
		e[0] = byte(kept)
	}
	if err := os.WriteFile(filepath.Join(dir, hnswlib.Level0File), b, 0o600); err != nil {
		t.Fatal(err)
	}
	var labels []string
	var seen int
	var last, total int64
	f, err := open(t, dir).ExamineWith(context.Background(), hnswlib.Exam{
		Dimension: 8, Cosine: true,
		Label:     func(int, uint64, bool) { seen++ },
		Unreached: func(label uint64) { labels = append(labels, strconv.FormatUint(label, 10)) },
		Progress:  func(done, all int64) { last, total = done, all },
	})
	// Elements 47 and, above, none of the others is on a level of its own.
	if err != nil || f.Reach == nil || f.Reach.Unreachable != 9 && f.Reach.Unreachable != 10 || f.Reach.First != 40 || seen != 300 {
		t.Fatalf("%+v, %d seen, %v", f.Reach, seen, err)
	}
	if len(labels) != f.Reach.Unreachable || labels[0] != "41" {
		t.Errorf("%v", labels)
	}
	if f.Reach.Reached+f.Reach.Unreachable+f.Reach.Buried != 300 {
		t.Errorf("%+v", f.Reach)
	}
	if last > total {
		t.Errorf("%d of %d bytes", last, total)
	}
}

func TestALongLookCanBeCalledOff(t *testing.T) {
	t.Parallel()
	r := open(t, small(t))
	ctx, cancel := context.WithCancel(context.Background())
	_, err := r.ExamineWith(ctx, hnswlib.Exam{Unreached: func(uint64) {}, Label: func(i int, _ uint64, _ bool) {
		if i == 299 {
			cancel()
		}
	}})
	if err == nil {
		t.Error("the look went on")
	}
}
