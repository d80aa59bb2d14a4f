package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rooms says which package may import which. A package belongs to the room
// with the longest matching name, and may import its own room. "palace/..."
// stands for palace and everything under it.
var rooms = map[string][]string{
	"":               {"views", "views/cli", "theme"},
	"theme":          {},
	"ui":             {"theme"},
	"views":          {"ui", "theme", "locks", "palace/..."},
	"views/cli":      {"locks", "palace/..."},
	"locks":          {},
	"palace/backend": {},
	"palace/dbfile":  {},
	"palace/durable": {},
	"palace/simd":    {},
	"palace/hnswlib": {"palace/durable", "palace/simd"},
	"palace/chroma":  {"palace/durable", "palace/backend", "palace/dbfile", "palace/hnswlib"},
	"palace/exact":   {"palace/backend", "palace/dbfile", "palace/simd"},
	"palace/queue":   {"palace/durable", "palace/backend", "locks"},
	"palace/remote":  {"palace/backend"},
	"palace":         {"palace/backend", "palace/chroma", "palace/exact", "palace/remote", "palace/queue", "palace/dbfile", "locks"},
	"palace/health":  {"palace", "palace/backend", "palace/chroma", "palace/exact", "palace/remote", "palace/dbfile", "palace/hnswlib", "locks"},
	"palace/embed":   {"palace/simd"},
	"palace/search":  {"palace/backend", "palace/hnswlib", "palace/embed", "palace/simd"},
	// What joins search to the engines of a palace.
	"palace/search/seek": {"palace", "palace/backend", "palace/chroma", "palace/search"},
	"palace/action":      {"palace/durable", "palace", "locks"},
	"palace/change":      {"palace", "palace/backend", "palace/queue", "palace/action", "locks"},
	"palace/mine":        {"palace", "palace/backend", "palace/action", "palace/embed", "locks"},
	"palace/repair":      {"palace/durable", "palace", "palace/backend", "palace/action", "palace/health", "palace/chroma", "palace/dbfile", "palace/hnswlib", "palace/search", "palace/embed", "palace/change", "locks"},
	"palace/transfer":    {"palace", "palace/backend", "palace/action"},
	// Palaces for tests and for the demo; no other room imports it.
	"palace/specimen": {"palace/hnswlib"},
}

const module = "castellan"

// goPackage is what this test needs of go list's answer.
type goPackage struct {
	ImportPath, Dir string
	GoFiles         []string
	Imports, Deps   []string
}

func TestPackagesImportOnlyWhatTheirRoomMay(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range listPackages(t, goos) {
			room := roomOf(p.ImportPath)
			for _, imported := range p.Imports {
				if !isOurs(imported) || mayImport(room, roomOf(imported)) {
					continue
				}
				t.Errorf("%s: %s (room %q) imports %s (room %q)", goos, p.ImportPath, room, imported, roomOf(imported))
			}
		}
	}
}

func TestNothingBelowTheViewsDrawsOrPrints(t *testing.T) {
	for _, p := range listPackages(t, "linux") {
		room := roomOf(p.ImportPath)
		if room != "locks" && room != "palace" && !strings.HasPrefix(room, "palace/") {
			continue
		}
		for _, dep := range p.Deps {
			if strings.HasPrefix(dep, "github.com/charmbracelet/") {
				t.Errorf("%s depends on %s, which belongs to the screens", p.ImportPath, dep)
			}
		}
		for _, name := range p.GoFiles {
			for _, printing := range printings(t, filepath.Join(p.Dir, name)) {
				t.Error(printing)
			}
		}
	}
}

// The top level was settled once; what is new belongs into a room.
func TestTopLevelHoldsOnlyTheRooms(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"ui", "views", "palace", "locks", "theme", "testdata", "docs"}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(known, e.Name()) {
			t.Errorf("%s/ stands at the top level", e.Name())
		}
	}
}

func listPackages(t *testing.T, goos string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,Imports,Deps", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var list []goPackage
	dec := json.NewDecoder(out)
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if isOurs(p.ImportPath) {
			list = append(list, p)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("go list for %s: %v", goos, err)
	}
	if len(list) == 0 {
		t.Fatalf("go list for %s names no package", goos)
	}
	return list
}

func isOurs(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// roomOf is the longest room that holds the package.
func roomOf(path string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	for name != "" {
		if _, ok := rooms[name]; ok {
			return name
		}
		name = name[:max(0, strings.LastIndexByte(name, '/'))]
	}
	return ""
}

func mayImport(room, other string) bool {
	if room == other {
		return true
	}
	return slices.ContainsFunc(rooms[room], func(allowed string) bool {
		base, whole := strings.CutSuffix(allowed, "/...")
		return other == base || whole && strings.HasPrefix(other, base+"/")
	})
}

// printings finds what writes to the terminal behind the screens' back.
func printings(t *testing.T, file string) []string {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			name := pkg.Name + "." + n.Sel.Name
			switch {
			case name == "os.Stdout", name == "os.Stderr", strings.HasPrefix(name, "fmt.Print"), strings.HasPrefix(name, "log.Print"):
				found = append(found, fmt.Sprintf("%s: %s", set.Position(n.Pos()), name))
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
				found = append(found, fmt.Sprintf("%s: %s", set.Position(n.Pos()), id.Name))
			}
		}
		return true
	})
	return found
}
