package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"castellan/locks"
	"castellan/palace/specimen"
	"castellan/views/cli"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"
)

// recorded are the palaces that main embeds.
var recorded = os.DirFS(filepath.Join("..", "..", "testdata", "palaces"))

func TestMain(m *testing.M) {
	// The demo starts this very file again as its second process.
	if len(os.Args) == 2 && os.Args[1] == "demo-holder" {
		os.Args[0] = "castellan"
	}
	testscript.Main(m, map[string]func(){
		"castellan": func() {
			samples := os.Getenv("CASTELLAN_TEST_SAMPLES")
			os.Exit(cli.Program{
				Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Samples: os.DirFS(samples),
			}.Main())
		},
		"mempalace": peer,
	})
}

func TestScripts(t *testing.T) {
	samples, err := filepath.Abs(filepath.Join("..", "..", "testdata", "palaces"))
	if err != nil {
		t.Fatal(err)
	}
	tiny, err := filepath.Abs(filepath.Join("..", "..", "palace", "embed", "testdata", "tiny"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv("CASTELLAN_TEST_SAMPLES", samples)
			env.Setenv("TINY_MODEL", tiny)
			env.Setenv("ESC", "\x1b")
			env.Setenv("BEL", "\a")
			env.Setenv("GOOS", runtime.GOOS)
			env.Setenv("GOARCH", runtime.GOARCH)
			env.Values[treesKey{}] = map[string]specimen.Tree{}
			env.Values[holdsKey{}] = map[string]*flock.Flock{}
			return os.Mkdir(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"palace":    copySample,
			"sick":      makeSick,
			"hold":      hold,
			"letgo":     letGo,
			"damage":    damage,
			"held":      held,
			"json":      jsonValue,
			"unchanged": unchanged,
			"remember":  remember,
		},
	})
}

// exits CODE COMMAND... runs a command that must exit with the code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// palace NAME DIR lays out a copy of a recorded palace.
func copySample(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: palace NAME DIR")
	}
	ts.Check(specimen.CopyFS(recorded, args[0], ts.MkAbs(args[1])))
}

// sick NAME DIR makes a palace that is in the state of a specimen.
func makeSick(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: sick NAME DIR")
	}
	s, ok := specimen.ByName(args[0])
	if !ok {
		ts.Fatalf("no specimen is called %s", args[0])
	}
	ts.Check(s.Make(context.Background(), recorded, ts.MkAbs(args[1])))
}

// json PATH WANT compares a value of the last standard output, which must be
// one JSON document. A path is keys and indices joined by dots; "count" is the
// length of a list. json PATH keys K1,K2 compares the keys of an object.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: json PATH WANT, or json PATH keys K,K...")
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	dec.UseNumber()
	ts.Check(dec.Decode(&v))
	if dec.More() {
		ts.Fatalf("more than one JSON document on standard output")
	}
	v, err := walk(v, args[0])
	ts.Check(err)
	var got string
	if args[1] == "keys" && len(args) == 3 {
		o, ok := v.(map[string]any)
		if !ok {
			ts.Fatalf("%s is %T", args[0], v)
		}
		var keys []string
		for k := range o {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		got, args[1] = strings.Join(keys, ","), args[2]
	} else {
		got = word(v)
	}
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %s, want %s", args[0], got, strings.Join(args[1:], " "))
	}
}

func walk(v any, path string) (any, error) {
	if path == "." {
		return v, nil
	}
	for key := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[key]
			if !ok {
				return nil, fmt.Errorf("no %q in %s", key, path)
			}
			v = next
		case []any:
			if key == "count" {
				v = json.Number(strconv.Itoa(len(at)))
				continue
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(at) {
				return nil, fmt.Errorf("no element %q in %s, which has %d", key, path, len(at))
			}
			v = at[i]
		default:
			return nil, fmt.Errorf("%s: nothing below a %T", path, v)
		}
	}
	return v, nil
}

func word(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// treesKey finds what remember has seen in a script's values.
type treesKey struct{}

func remembered(ts *testscript.TestScript) map[string]specimen.Tree {
	return ts.Value(treesKey{}).(map[string]specimen.Tree)
}

// holdsKey finds what hold has locked in a script's values.
type holdsKey struct{}

// hold DIR takes the lock of a palace the way MemPalace does, in the name of
// this process, until letgo DIR or the end of the script.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	file := locks.File(locks.Directory(ts.Getenv("HOME")), locks.Key(ts.MkAbs(args[0])))
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
	ts.Check(os.WriteFile(file, []byte(fmt.Sprintf("\x00%d mempalace mine /x", os.Getpid())), 0o600))
	lock := flock.New(file)
	if ok, err := lock.TryLock(); !ok {
		ts.Fatalf("cannot lock %s: %v", file, err)
	}
	ts.Setenv("HOLDER", strconv.Itoa(os.Getpid()))
	ts.Value(holdsKey{}).(map[string]*flock.Flock)[args[0]] = lock
	ts.Defer(func() { ts.Check(lock.Close()) })
}

func letGo(ts *testscript.TestScript, _ bool, args []string) {
	lock := ts.Value(holdsKey{}).(map[string]*flock.Flock)[args[0]]
	if lock == nil {
		ts.Fatalf("%s is not held", args[0])
	}
	ts.Check(lock.Close())
}

// remember DIR records every byte under a directory; unchanged DIR fails when
// any is another one since.
func remember(ts *testscript.TestScript, _ bool, args []string) {
	tree, err := specimen.HashTree(ts.MkAbs(args[0]))
	ts.Check(err)
	remembered(ts)[args[0]] = tree
}

func unchanged(ts *testscript.TestScript, _ bool, args []string) {
	before, ok := remembered(ts)[args[0]]
	if !ok {
		ts.Fatalf("%s was not remembered", args[0])
	}
	after, err := specimen.HashTree(ts.MkAbs(args[0]))
	ts.Check(err)
	if d := specimen.Diff(before, after); len(d) > 0 {
		ts.Fatalf("looking has changed %s:\n%s", args[0], strings.Join(d, "\n"))
	}
}
