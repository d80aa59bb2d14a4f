package pickle

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Each of these files, unpickled by Python, creates the marker file.
func TestPicklesThatNameCodeAreRefusedAndRunNothing(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "ran")
	command := "touch " + marker
	call := []byte{opTuple1, opReduce, opStop}
	for name, c := range map[string]struct {
		b            []byte
		module, what string
		offset       int64
	}{
		"GLOBAL":         {proto(3).global("os", "system").text(command).op(call...).b, "os", "system", 2},
		"STACK_GLOBAL":   {proto(4).short("posix").short("system").op(opStackGlobal).short(command).op(call...).b, "posix", "system", 17},
		"memoized names": {proto(4).short("os").op(opMemoize).short("system").op(opMemoize, opPop, opPop, opBinGet, 0, opBinGet, 1, opStackGlobal).short(command).op(call...).b, "os", "system", 22},
		"eval":           {proto(2).global("builtins", "eval").text("1").op(call...).b, "builtins", "eval", 2},
		"getattr":        {proto(2).global("__builtin__", "getattr").b, "__builtin__", "getattr", 2},
		"near name":      {proto(2).global(persistentModule, "os.system").b, persistentModule, "os.system", 2},
		"split name":     {proto(2).global("chromadb.segment", "impl.vector.local_persistent_hnsw.PersistentData").b, "chromadb.segment", "impl.vector.local_persistent_hnsw.PersistentData", 2},
		"copyreg":        {proto(2).global("copyreg", "add_extension").b, "copyreg", "add_extension", 2},
		"INST":           {append(proto(2).op(opMark, opInst).b, "os\nsystem\n"...), "os", "system", 3},
		"EXT1":           {proto(2).op(opExt1, 1).b, "copyreg", "extension registry", 2},
		"BINPERSID":      {proto(2).text("x").op(opBinPersID).b, "pickle", "persistent_load", 8},
		"inside a dict": {head(1).text("id_to_label").global("subprocess", "Popen").b, "subprocess", "Popen",
			int64(len(head(1).text("id_to_label").b))},
	} {
		m, err := read(c.b)
		var unsafe *UnsafeError
		if !errors.As(err, &unsafe) {
			t.Errorf("%s: %+v, %v", name, m, err)
			continue
		}
		if unsafe.Module != c.module || unsafe.Name != c.what || unsafe.Offset != c.offset {
			t.Errorf("%s: refused %+v", name, unsafe)
		}
		if !strings.Contains(err.Error(), c.module+"."+c.what) {
			t.Errorf("%s: the message does not name it: %v", name, err)
		}
	}
	if _, err := os.Stat(marker); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something ran: %v", err)
	}
}

// The allowed globals spell an empty instance and nothing else.
func TestAllowedGlobalsCannotBeCalledOtherwise(t *testing.T) {
	t.Parallel()
	class := func() *script { return proto(2).global(persistentModule, "PersistentData") }
	for name, b := range map[string][]byte{
		"with arguments": class().text("x").op(opTuple1, opNewObj).b,
		"by REDUCE":      class().op(opEmptyTuple, opReduce).b,
		"object":         proto(2).global("builtins", "object").op(opEmptyTuple, opNewObj).b,
		"rebuild object": proto(2).global("copyreg", "_reconstructor").global("builtins", "object").
			global("builtins", "object").op(opNone, opTuple3, opReduce).b,
		"text":         proto(2).text("os.system").op(opEmptyTuple, opReduce).b,
		"no tuple":     class().op(opNone, opNewObj).b,
		"state twice":  class().op(opEmptyTuple, opNewObj, opEmptyDict, opBuild, opEmptyDict, opBuild).b,
		"state a list": class().op(opEmptyTuple, opNewObj, opEmptyList, opBuild).b,
		"dict state":   proto(2).op(opEmptyDict, opEmptyDict, opBuild).b,
		"names by int": proto(4).num(1).num(2).op(opStackGlobal).b,
	} {
		m, err := read(append(b, opStop))
		var format *FormatError
		if !errors.As(err, &format) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// A cut anywhere is told as a cut, with the size that is there.
func TestEveryTruncationIsToldAsOne(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/*.pickle")
	whole := map[string][]byte{"rust": rust(rows(3), 3), "python": python(rows(3), 3)}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		whole[f] = b
	}
	for name, b := range whole {
		if _, err := read(b[:0]); !errors.Is(err, ErrEmpty) {
			t.Errorf("%s: empty file: %v", name, err)
		}
		for n := 1; n < len(b); n++ {
			m, err := read(b[:n])
			var cut *TruncatedError
			if !errors.As(err, &cut) || cut.Offset != int64(n) {
				t.Fatalf("%s cut at %d: %+v, %v", name, n, m, err)
			}
			// The file shrank after its size was asked.
			_, err = Read(context.Background(), bytes.NewReader(b[:n]), int64(len(b)))
			if !errors.As(err, &cut) || cut.Offset != int64(n) {
				t.Fatalf("%s shrunk to %d: %v", name, n, err)
			}
		}
	}
}

func TestGarbageIsNamedWithItsOffset(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		b      []byte
		offset int64
	}{
		"zeros":           {make([]byte, 100), 0},
		"text":            {[]byte("not a pickle"), 0},
		"protocol 0":      {[]byte("(dp0\n."), 0},
		"protocol 6":      {proto(6).op(opNone, opStop).b, 0},
		"unknown opcode":  {proto(3).op(0xff).b, 2},
		"zeroed tail":     {append(head(1).b, make([]byte, 64)...), int64(len(head(1).b))},
		"text opcode":     {append(proto(3).b, "I12\n."...), 2},
		"no value":        {proto(3).op(opStop).b, 2},
		"no mark":         {proto(3).op(opEmptyDict, opSetItems).b, 3},
		"odd items":       {proto(3).op(opEmptyDict, opMark, opNone, opSetItems).b, 5},
		"under the mark":  {proto(3).op(opEmptyDict, opNone, opMark, opNone, opSetItem).b, 6},
		"items of a list": {proto(3).op(opEmptyList, opNone, opNone, opSetItem).b, 5},
		"item of a dict":  {proto(3).op(opEmptyDict, opNone, opAppend).b, 4},
		"empty memo slot": {proto(3).op(opBinGet, 0).b, 2},
		"negative LONG4":  {append(proto(3).op(opLong4, 0, 0, 0, 0x80).b, make([]byte, 9)...), 2},
		"nameless global": {append(proto(3).op(opGlobal).b, make([]byte, 1000)...), 2},
	} {
		m, err := read(c.b)
		var format *FormatError
		if name == "negative LONG4" { // told as a cut before its sign matters, or as a fault
			var cut *TruncatedError
			if !errors.As(err, &format) && !errors.As(err, &cut) {
				t.Errorf("%s: %+v, %v", name, m, err)
			}
			continue
		}
		if !errors.As(err, &format) || format.Offset != c.offset {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// No file may make the reader allocate beyond a base and a small multiple of
// its own size. Not parallel: it counts what the process allocates.
func TestHostileFilesCannotMakeTheReaderAllocate(t *testing.T) {
	many := func(n int, b ...byte) []byte { return bytes.Repeat(b, n) }
	laughs := proto(4).op(opEmptyList, opMemoize)
	for i := byte(0); i < 200; i++ { // each list holds the one before it ten times
		laughs.op(opEmptyList, opMemoize, opMark).op(many(10, opBinGet, i)...).op(opAppends)
	}
	tuples := proto(4).op(opEmptyTuple)
	for range 3000 {
		tuples.op(opDup, opTuple2)
	}
	const mb = 1 << 20
	for name, b := range map[string][]byte{
		"text of 4 GiB":      proto(3).op(opBinUnicode, 0xff, 0xff, 0xff, 0xff).b,
		"text of 2^64":       proto(4).op(opBinUnicode8).op(many(8, 0xff)...).b,
		"text of 2^63":       proto(4).op(opBinUnicode8, 0, 0, 0, 0, 0, 0, 0, 0x80).b,
		"bytes of 2^64":      proto(4).op(opBinBytes8).op(many(8, 0xff)...).b,
		"frame of 2^64":      proto(4).op(opFrame).op(many(8, 0xff)...).b,
		"integer of 4 GiB":   proto(3).op(opLong4, 0xff, 0xff, 0xff, 0xff).b,
		"memo slot 2^32":     proto(3).op(opNone, opLongBinPut, 0xff, 0xff, 0xff, 0xff).b,
		"memo flood":         proto(4).text("x").op(many(4*mb, opMemoize)...).b,
		"values":             proto(3).op(many(4*mb, opNone)...).b,
		"references":         proto(4).text("x").op(opMemoize).op(many(2*mb, opBinGet, 0)...).b,
		"duplicates":         proto(4).text("x").op(many(4*mb, opDup)...).b,
		"marks":              proto(3).op(many(4*mb, opMark)...).b,
		"nested lists":       proto(3).op(many(2*mb, opEmptyList, opMark)...).b,
		"dicts":              proto(3).op(many(4*mb, opEmptyDict)...).b,
		"tuples":             proto(3).op(many(4*mb, opEmptyTuple)...).b,
		"objects":            proto(2).global(persistentModule, "PersistentData").op(many(mb, opDup, opEmptyTuple, opNewObj, opPop)...).b,
		"empty texts":        proto(4).op(many(2*mb, opShortUnicode, 0)...).b,
		"mixed dict":         proto(3).op(opEmptyDict).op(many(mb, opNone, opNewTrue, opSetItem)...).b,
		"billion laughs":     laughs.op(opStop).b,
		"doubling tuples":    tuples.op(opStop).b,
		"dict within itself": proto(4).op(opEmptyDict, opMemoize).text("id_to_label").op(opBinGet, 0, opSetItem, opStop).b,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := read(b)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: accepted as %+v", name, m)
		}
		// The stack grows to its bound of 16 MiB; all it had before counts here too.
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(96*mb+32*len(b)); got > most {
			t.Errorf("%s: %d bytes allocated for %d", name, got, len(b))
		}
		if len(b) < 1000 {
			if got := after.TotalAlloc - before.TotalAlloc; got > mb {
				t.Errorf("%s: %d bytes allocated for %d", name, got, len(b))
			}
		}
	}
}

// A sparse file has any size for free.
func TestSparseFileOfATerabyteIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index_metadata.pickle")
	long := proto(4).op(opBinUnicode8, 0, 0, 0, 0, 1, 0, 0, 0).b // 4 GiB of text, all there
	for _, size := range []int64{3 << 30, 1 << 40} {
		if err := os.WriteFile(path, long, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Skipf("no sparse files here: %v", err)
		}
		_, err := ReadFile(context.Background(), path)
		var format *FormatError
		var cut *TruncatedError
		if !errors.As(err, &format) && !errors.As(err, &cut) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestCancelledReadStops(t *testing.T) {
	t.Parallel()
	b := rust(rows(5000), 5000)
	ctx, cancel := context.WithCancel(context.Background())
	r := io.MultiReader(bytes.NewReader(b[:windowSize]), cancelling{cancel}, bytes.NewReader(b[windowSize:]))
	if _, err := Read(ctx, r, int64(len(b))); !errors.Is(err, context.Canceled) {
		t.Errorf("read on after cancel: %v", err)
	}
}

type cancelling struct{ cancel func() }

func (c cancelling) Read([]byte) (int, error) { c.cancel(); return 0, io.EOF }

func TestErrorsOfTheDiskAreHandedOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("input/output error")
	b := rust(rows(50), 50)
	r := io.MultiReader(bytes.NewReader(b[:1000]), failing{broken})
	if _, err := Read(context.Background(), r, int64(len(b))); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestWhatIsNoFileIsRefusedWithoutWaiting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	paths := []string{dir}
	if makeFIFO(fifo) == nil {
		paths = append(paths, fifo)
	}
	for _, p := range paths {
		done := make(chan error, 1)
		go func() { _, err := ReadFile(context.Background(), p); done <- err }()
		select {
		case err := <-done:
			var kind *NotRegularError
			if !errors.As(err, &kind) || !strings.Contains(err.Error(), p) {
				t.Errorf("%s: %v", p, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: still waiting", p)
		}
	}
	if _, err := ReadFile(context.Background(), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}
