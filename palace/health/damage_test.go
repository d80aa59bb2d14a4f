package health

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"castellan/palace/hnswlib"
	"castellan/palace/hnswlib/hnswtest"
	"castellan/palace/specimen"
)

// hurt is one thing that happens to a file: a bit flips, a stretch is zeroed, the
// end is cut off, two stretches change places, a byte is overwritten.
func hurt(rng *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	at, to := rng.IntN(len(b)), rng.IntN(len(b))
	n := min(1+rng.IntN(64), len(b)-at, len(b)-to)
	switch rng.IntN(5) {
	case 0:
		b[at] ^= 1 << rng.IntN(8)
	case 1:
		clear(b[at : at+n])
	case 2:
		return b[:at]
	case 3:
		for i := range n {
			b[at+i], b[to+i] = b[to+i], b[at+i]
		}
	case 4:
		b[at] = byte(rng.IntN(256))
	}
	return b
}

// pickleHurt tells whether a damage of the index metadata changed anything in
// the two maps of ids and labels: where they lie in the sound file is enough to
// know.
func pickleHurt(sound, now []byte) bool {
	from, to := bytes.Index(sound, []byte("id_to_label")), bytes.Index(sound, []byte("id_to_seq_id"))-5
	return len(now) != len(sound) || !bytes.Equal(sound[from:to], now[from:to])
}

// Whatever happens to the five files of an index: the doctor answers, and never
// calls a palace fine in which a search would miss, confuse or crash over
// something. What is so is decided by reading the bytes plainly, not by the
// doctor's own reader.
func TestNoDamageOfAnIndexPassesTheDoctor(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "palace")
	if err := specimen.CopyFS(os.DirFS(filepath.Join("..", "..", "testdata", "palaces")), "empty", base); err != nil {
		t.Fatal(err)
	}
	const dimension = 16
	spec := specimen.Spec{Rows: 130, Dimension: dimension, DocumentChars: 40, SyncThreshold: 60, Queued: 1}
	if err := specimen.Generate(t.Context(), base, spec); err != nil {
		t.Fatal(err)
	}
	headers, err := filepath.Glob(filepath.Join(base, "*", hnswlib.HeaderFile))
	if err != nil {
		t.Fatal(err)
	}
	segment := ""
	sound := map[string][]byte{}
	names := []string{hnswlib.HeaderFile, hnswlib.Level0File, hnswlib.LengthFile, hnswlib.LinksFile, hnswlib.PickleFile}
	for _, h := range headers {
		if _, err := os.Stat(filepath.Join(filepath.Dir(h), hnswlib.PickleFile)); err == nil {
			segment = filepath.Dir(h)
		}
	}
	for _, name := range names {
		if sound[name], err = os.ReadFile(filepath.Join(segment, name)); err != nil {
			t.Fatal(err)
		}
	}
	var ids []uint64
	for i := range 129 {
		ids = append(ids, uint64(i+1))
	}
	wrong := func(files map[string][]byte) bool {
		return hnswtest.Oracle(hnswtest.Files{
			Header: files[hnswlib.HeaderFile], Level0: files[hnswlib.Level0File],
			Length: files[hnswlib.LengthFile], Links: files[hnswlib.LinksFile],
		}, dimension, true, ids) != nil || pickleHurt(sound[hnswlib.PickleFile], files[hnswlib.PickleFile])
	}
	if err := hnswtest.Oracle(hnswtest.Files{
		Header: sound[hnswlib.HeaderFile], Level0: sound[hnswlib.Level0File],
		Length: sound[hnswlib.LengthFile], Links: sound[hnswlib.LinksFile],
	}, dimension, true, ids); err != nil {
		t.Fatal("the sound index: ", err)
	}
	if r := reportOn(t, base, Full); r.Verdict != VerdictOK {
		t.Fatalf("the sound palace is called %s: %v", r.Verdict, codesOf(r))
	}
	rng := rand.New(rand.NewPCG(11, 12))
	bad, rounds := map[string]int{}, 30
	if testing.Short() {
		rounds = 8
	}
	for _, victim := range names {
		for round := range rounds {
			files := maps.Clone(sound)
			files[victim] = hurt(rng, files[victim])
			if err := os.WriteFile(filepath.Join(segment, victim), files[victim], 0o600); err != nil {
				t.Fatal(err)
			}
			r := reportOn(t, base, Full)
			if wrong(files) {
				bad[victim]++
				if r.Verdict == VerdictOK {
					t.Errorf("%s, round %d: the palace is called ok", victim, round)
				}
			}
			if err := os.WriteFile(filepath.Join(segment, victim), sound[victim], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if bad[victim] < rounds/5 {
			t.Errorf("only %d of %d damages of %s were any", bad[victim], rounds, victim)
		}
	}
}
