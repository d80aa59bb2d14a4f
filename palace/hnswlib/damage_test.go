package hnswlib_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"castellan/palace/hnswlib"
	"castellan/palace/hnswlib/hnswtest"
)

// vectors makes n vectors that are the same in every run.
func vectors(n, dimension int) [][]float32 {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	all := make([][]float32, n)
	for i := range all {
		all[i] = make([]float32, dimension)
		for j := range all[i] {
			all[i][j] = float32(rng.NormFloat64())
		}
	}
	return all
}

// sound is the files of a sound segment of 300 elements of dimension 8.
var sound = sync.OnceValue(func() map[string][]byte {
	dir, err := os.MkdirTemp("", "castellan-hnswlib")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	deleted := make([]bool, 300)
	deleted[3], deleted[299] = true, true
	err = hnswtest.Write(dir, hnswtest.Segment{Dimension: 8, Cosine: true, Vectors: vectors(300, 8), Deleted: deleted})
	if err != nil {
		panic(err)
	}
	files := make(map[string][]byte)
	for _, name := range []string{hnswlib.HeaderFile, hnswlib.Level0File, hnswlib.LengthFile, hnswlib.LinksFile} {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			panic(err)
		}
	}
	return files
})

// small writes the sound segment.
func small(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "segment")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range sound() {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	element = 172 // bytes of an element of dimension 8
	label   = 164
)

// patch writes b into a file of a segment.
func patch(t testing.TB, dir, name string, at int64, b ...byte) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(b, at)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func resize(t testing.TB, dir, name string, size int64) {
	t.Helper()
	if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
		t.Fatal(err)
	}
}

func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func TestEveryDamageIsToldByItsKindAndPlace(t *testing.T) {
	t.Parallel()
	header := func(at int64, b ...byte) func(testing.TB, string) {
		return func(t testing.TB, dir string) { patch(t, dir, hnswlib.HeaderFile, at, b...) }
	}
	level0 := func(at int64, b ...byte) func(testing.TB, string) {
		return func(t testing.TB, dir string) { patch(t, dir, hnswlib.Level0File, at, b...) }
	}
	links := func(at int64, b ...byte) func(testing.TB, string) {
		return func(t testing.TB, dir string) { patch(t, dir, hnswlib.LinksFile, at, b...) }
	}
	length := func(at int64, b ...byte) func(testing.TB, string) {
		return func(t testing.TB, dir string) { patch(t, dir, hnswlib.LengthFile, at, b...) }
	}
	cut := func(name string, size int64) func(testing.TB, string) {
		return func(t testing.TB, dir string) { resize(t, dir, name, size) }
	}
	remove := func(name string) func(testing.TB, string) {
		return func(t testing.TB, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cosine := hnswlib.Exam{Dimension: 8, Cosine: true}
	const level0Size, linksSize = 300 * element, 300*4 + 18*68 + 68 // element 256 has two levels
	for name, c := range map[string]struct {
		damage func(testing.TB, string)
		want   hnswlib.Fault // Got and Want are for people
	}{
		"capacity below the elements": {header(12, u64(256)...), hnswlib.Fault{Kind: hnswlib.FaultCapacity, File: hnswlib.HeaderFile, Field: "max_elements", Offset: 12, Count: 1}},
		"no capacity":                 {header(12, u64(0)...), hnswlib.Fault{Kind: hnswlib.FaultCapacity, File: hnswlib.HeaderFile, Field: "max_elements", Offset: 12, Count: 1}},
		"entry point beyond":          {header(56, u32(300)...), hnswlib.Fault{Kind: hnswlib.FaultHeader, File: hnswlib.HeaderFile, Field: "enterpoint_node", Offset: 56, Count: 1}},
		"no entry point":              {header(56, u32(hnswlib.NoEntry)...), hnswlib.Fault{Kind: hnswlib.FaultHeader, File: hnswlib.HeaderFile, Field: "enterpoint_node", Offset: 56, Count: 1}},
		"entry point too low":         {header(56, u32(0)...), hnswlib.Fault{Kind: hnswlib.FaultHeader, File: hnswlib.HeaderFile, Field: "enterpoint_node", Offset: 56, Count: 1}},
		"no levels":                   {header(52, u32(1<<32-1)...), hnswlib.Fault{Kind: hnswlib.FaultHeader, File: hnswlib.HeaderFile, Field: "maxlevel", Offset: 52, Count: 1}},
		"mult":                        {header(84, u64(0)...), hnswlib.Fault{Kind: hnswlib.FaultHeader, File: hnswlib.HeaderFile, Field: "mult", Offset: 84, Count: 1}},
		"ef_construction":             {header(92, u64(0)...), hnswlib.Fault{Kind: hnswlib.FaultHeader, File: hnswlib.HeaderFile, Field: "ef_construction", Offset: 92, Count: 1}},
		"header too long":             {cut(hnswlib.HeaderFile, 104), hnswlib.Fault{Kind: hnswlib.FaultHeader, File: hnswlib.HeaderFile, Field: "length", Offset: 100, Count: 1}},
		"more elements than data":     {header(20, u64(310)...), hnswlib.Fault{Kind: hnswlib.FaultShort, File: hnswlib.Level0File, Offset: level0Size, Count: 10}},
		"data short":                  {cut(hnswlib.Level0File, level0Size-1), hnswlib.Fault{Kind: hnswlib.FaultShort, File: hnswlib.Level0File, Offset: level0Size - 1, Count: 1}},
		"data empty":                  {cut(hnswlib.Level0File, 0), hnswlib.Fault{Kind: hnswlib.FaultShort, File: hnswlib.Level0File, Offset: 0, Count: 300}},
		"length short":                {cut(hnswlib.LengthFile, 1199), hnswlib.Fault{Kind: hnswlib.FaultShort, File: hnswlib.LengthFile, Offset: 1199, Count: 1}},
		"length missing":              {remove(hnswlib.LengthFile), hnswlib.Fault{Kind: hnswlib.FaultMissing, File: hnswlib.LengthFile, Offset: -1, Count: 1}},
		"links missing":               {remove(hnswlib.LinksFile), hnswlib.Fault{Kind: hnswlib.FaultMissing, File: hnswlib.LinksFile, Offset: -1, Count: 1}},
		// MemPalace #1457: opening this is a SIGSEGV.
		"links empty":                 {cut(hnswlib.LinksFile, 0), hnswlib.Fault{Kind: hnswlib.FaultShort, File: hnswlib.LinksFile, Offset: 0, Count: 1}},
		"links cut":                   {cut(hnswlib.LinksFile, linksSize-1), hnswlib.Fault{Kind: hnswlib.FaultLinks, File: hnswlib.LinksFile, Offset: linksSize - 1, Count: 1}},
		"links too long":              {cut(hnswlib.LinksFile, linksSize+4), hnswlib.Fault{Kind: hnswlib.FaultLinks, File: hnswlib.LinksFile, Offset: linksSize, Count: 1}},
		"link record of odd length":   {links(0, u32(67)...), hnswlib.Fault{Kind: hnswlib.FaultLinks, File: hnswlib.LinksFile, Offset: 0, Count: 1}},
		"link record of 4 GiB":        {links(4, 0xff, 0xff, 0xff, 0xff), hnswlib.Fault{Kind: hnswlib.FaultLinks, File: hnswlib.LinksFile, Offset: 4, Count: 1}},
		"link neighbour beyond":       {links(15*4+8, u32(300)...), hnswlib.Fault{Kind: hnswlib.FaultLinks, File: hnswlib.LinksFile, Offset: 60, Count: 1}},
		"link to itself":              {links(15*4+8, u32(15)...), hnswlib.Fault{Kind: hnswlib.FaultLinks, File: hnswlib.LinksFile, Offset: 60, Count: 1}},
		"link count above M":          {links(15*4+4, u32(17)...), hnswlib.Fault{Kind: hnswlib.FaultLinks, File: hnswlib.LinksFile, Offset: 60, Count: 1}},
		"level above the header's":    {header(52, u32(1)...), hnswlib.Fault{Kind: hnswlib.FaultLinks, File: hnswlib.LinksFile, Offset: 15*72 + 240*4, Count: 1}},
		"links exploded":              {cut(hnswlib.LinksFile, 20<<30), hnswlib.Fault{Kind: hnswlib.FaultBloated, File: hnswlib.LinksFile, Offset: -1, Count: 1}},
		"neighbour out of range":      {level0(7*element+4, u32(300)...), hnswlib.Fault{Kind: hnswlib.FaultNeighbours, File: hnswlib.Level0File, Offset: 7 * element, Count: 1}},
		"neighbour of itself":         {level0(7*element+4, u32(7)...), hnswlib.Fault{Kind: hnswlib.FaultNeighbours, File: hnswlib.Level0File, Offset: 7 * element, Count: 1}},
		"more neighbours than 2*M":    {level0(9*element, 33), hnswlib.Fault{Kind: hnswlib.FaultNeighbours, File: hnswlib.Level0File, Offset: 9 * element, Count: 1}},
		"neighbour twice":             {level0(7*element+4, append(u32(9), u32(9)...)...), hnswlib.Fault{Kind: hnswlib.FaultNeighbours, File: hnswlib.Level0File, Offset: 7 * element, Count: 1}},
		"label twice":                 {level0(9*element+label, u64(1)...), hnswlib.Fault{Kind: hnswlib.FaultLabels, File: hnswlib.Level0File, Offset: 9*element + label, Count: 1}},
		"label 0":                     {level0(9*element+label, u64(0)...), hnswlib.Fault{Kind: hnswlib.FaultLabels, File: hnswlib.Level0File, Offset: 9*element + label, Count: 1}},
		"huge label twice":            {level0(9*element+label, append(append(u64(1<<63), make([]byte, label)...), u64(1<<63)...)...), hnswlib.Fault{Kind: hnswlib.FaultLabels, File: hnswlib.Level0File, Offset: 10*element + label, Count: 1}},
		"a mark that is none":         {level0(7*element+3, 1), hnswlib.Fault{Kind: hnswlib.FaultNeighbours, File: hnswlib.Level0File, Offset: 7 * element, Count: 1}},
		"link below its level":        {links(15*4+8, u32(16)...), hnswlib.Fault{Kind: hnswlib.FaultLevels, File: hnswlib.LinksFile, Offset: 60, Count: 1}},
		"vector stretched":            {level0(7*element+132, u32(0x40000000)...), hnswlib.Fault{Kind: hnswlib.FaultNorms, File: hnswlib.Level0File, Offset: 7*element + 132, Count: 1}},
		"vector with a NaN":           {level0(7*element+136, u32(0x7fc00000)...), hnswlib.Fault{Kind: hnswlib.FaultNotFinite, File: hnswlib.Level0File, Offset: 7*element + 132, Count: 1}},
		"vector of zeros":             {level0(7*element+132, make([]byte, 32)...), hnswlib.Fault{Kind: hnswlib.FaultBlank, File: hnswlib.Level0File, Offset: 7*element + 132, Count: 1}},
		"length 0":                    {length(7*4, u32(0)...), hnswlib.Fault{Kind: hnswlib.FaultNorms, File: hnswlib.LengthFile, Offset: 28, Count: 1}},
		"length infinite":             {length(7*4, u32(0x7f800000)...), hnswlib.Fault{Kind: hnswlib.FaultNorms, File: hnswlib.LengthFile, Offset: 28, Count: 1}},
		"a page of zeros in the data": {level0(8192, make([]byte, 4096)...), hnswlib.Fault{Kind: hnswlib.FaultZeroed, File: hnswlib.Level0File, Offset: 48 * element, Count: 23}},
	} {
		dir := small(t)
		if f, err := open(t, dir).ExamineWith(context.Background(), cosine); err != nil || f.Faults != nil || f.Deleted != 2 {
			t.Fatalf("the sound segment has faults: %v, %v", f.Faults, err)
		}
		c.damage(t, dir)
		f, err := open(t, dir).ExamineWith(context.Background(), cosine)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found := slices.ContainsFunc(f.Faults, func(got hnswlib.Fault) bool {
			got.Got, got.Want = "", ""
			return got == c.want
		})
		if !found {
			t.Errorf("%s: told as %+v", name, f.Faults)
		}
	}
}

// Zeros are records of level 0: the walk stays in step until the next true
// record, or ends early. It never ends well.
func TestZeroedLinksNeverPassForSound(t *testing.T) {
	t.Parallel()
	for _, page := range []int64{0, 128, 256, 512, 1024, 2048} {
		dir := small(t)
		patch(t, dir, hnswlib.LinksFile, page, make([]byte, 128)...)
		f, err := open(t, dir).Examine(context.Background(), 8, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(f.Faults, func(v hnswlib.Fault) bool { return v.Kind == hnswlib.FaultLinks }) {
			t.Errorf("zeros at %d: %v", page, f.Faults)
		}
	}
}

// Without a layout nothing can be read, so the segment does not open.
func TestFilesThatCannotBeReadAtAllAreRefused(t *testing.T) {
	t.Parallel()
	field := func(name string, offset int64) func(error) bool {
		return func(err error) bool {
			var e *hnswlib.HeaderError
			return errors.As(err, &e) && e.Field == name && e.Offset == offset && e.Dir != ""
		}
	}
	missing := func(file string) func(error) bool {
		return func(err error) bool {
			var e *hnswlib.MissingError
			return errors.As(err, &e) && e.File == file && errors.Is(err, fs.ErrNotExist)
		}
	}
	odd := func(err error) bool { var e *hnswlib.NotRegularError; return errors.As(err, &e) }
	short := func(got int64) func(error) bool {
		return func(err error) bool {
			var e *hnswlib.ShortError
			return errors.As(err, &e) && e.File == hnswlib.HeaderFile && e.Got == got && e.Want == 100
		}
	}
	for name, c := range map[string]struct {
		damage func(dir string) error
		told   func(error) bool
	}{
		"no directory":     {func(dir string) error { return os.RemoveAll(dir) }, missing("")},
		"no header":        {func(dir string) error { return os.Remove(filepath.Join(dir, hnswlib.HeaderFile)) }, missing(hnswlib.HeaderFile)},
		"no data":          {func(dir string) error { return os.Remove(filepath.Join(dir, hnswlib.Level0File)) }, missing(hnswlib.Level0File)},
		"header empty":     {func(dir string) error { return os.Truncate(filepath.Join(dir, hnswlib.HeaderFile), 0) }, short(0)},
		"header short":     {func(dir string) error { return os.Truncate(filepath.Join(dir, hnswlib.HeaderFile), 50) }, short(50)},
		"header 99 bytes":  {func(dir string) error { return os.Truncate(filepath.Join(dir, hnswlib.HeaderFile), 99) }, short(99)},
		"header of zeros":  {zero(0, 100), field("version", 0)},
		"version 2":        {set(0, 2), field("version", 0)},
		"offsetLevel0":     {set(4, 1), field("offsetLevel0", 4)},
		"2^63 elements":    {set(27, 0x80), field("cur_element_count", 20)},
		"element size":     {set(28, 0xad), field("size_data_per_element", 28)},
		"element size 0":   {zero(28, 8), field("size_data_per_element", 28)},
		"label offset":     {set(36, 0xa5), field("label_offset", 36)},
		"label offset 0":   {zero(36, 8), field("label_offset", 36)},
		"data offset":      {set(44, 0x80), field("offsetData", 44)},
		"maxM":             {set(60, 17), field("maxM", 60)},
		"maxM0":            {set(68, 33), field("maxM0", 68)},
		"M 0":              {zero(76, 8), field("M", 76)},
		"M 2^56":           {set(83, 1), field("M", 76)},
		"dimension 2^40":   {set(41, 1), field("label_offset", 36)},
		"header directory": {replace(hnswlib.HeaderFile), odd},
		"data directory":   {replace(hnswlib.Level0File), odd},
		"a file for a directory": {func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
		}, odd},
	} {
		dir := small(t)
		if err := c.damage(dir); err != nil {
			t.Fatal(err)
		}
		r, err := hnswlib.Open(dir)
		if err == nil {
			r.Close()
		}
		if !c.told(err) {
			t.Errorf("%s: told as %v", name, err)
		}
	}
}

func set(at int64, b byte) func(string) error {
	return func(dir string) error { return write(dir, at, []byte{b}) }
}

func zero(at int64, n int) func(string) error {
	return func(dir string) error { return write(dir, at, make([]byte, n)) }
}

func write(dir string, at int64, b []byte) error {
	f, err := os.OpenFile(filepath.Join(dir, hnswlib.HeaderFile), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, at)
	return errors.Join(err, f.Close())
}

func replace(name string) func(string) error {
	return func(dir string) error {
		path := filepath.Join(dir, name)
		return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
	}
}
