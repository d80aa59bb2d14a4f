//go:build !windows

package locks

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pythonAnswers runs the expression MemPalace uses. Paths and answers travel
// as hexadecimal bytes, since not all of them are text.
const pythonAnswers = `
import hashlib, json, os, sys
out = []
for h in json.load(sys.stdin):
    path = os.fsdecode(bytes.fromhex(h))
    r = os.path.normcase(os.path.realpath(os.path.expanduser(path)))
    try:
        key = hashlib.sha256(r.encode()).hexdigest()[:16]
    except UnicodeEncodeError:
        key = ""
    out.append([os.fsencode(r).hex(), key])
json.dump(out, sys.stdout)
`

// oddPaths builds a tree of links and odd names below root, with a home, and
// gives paths that lead through it.
func oddPaths(t *testing.T, root string) (home string, paths []string) {
	t.Helper()
	home = filepath.Join(root, "home")
	for _, dir := range []string{"home/palace/deep/er", "straße", "宮殿", "sp ace", "~", "bad\xff\xfe", "mixed/../mixed"} {
		if err := os.MkdirAll(root+"/"+dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, root+"/file", "")
	for name, target := range map[string]string{
		"link": "home/palace", "abs": root + "/home/palace", "up": "home/palace/deep/..", "chain": "link",
		"chain2": "./chain", "dangling": "nowhere/at/all", "loop": "loop", "ping": "pong", "pong": "ping",
		"dot": ".", "rootlink": "/", "slashes": "home//palace///deep/", "tofile": "file", "utf": "宮殿",
		"badlink": "bad\xff\xfe", "updown": "../" + filepath.Base(root) + "/home", "home/palace/back": "../..",
		"deeploop": "home/palace/inner", "home/palace/inner": root + "/deeploop", "nested": "link/deep/../../palace/back",
		"homelink": "home/palace/../palace", "tilde": "~",
	} {
		if err := os.Symlink(target, root+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	up, err := filepath.Rel(cwd, root)
	if err != nil {
		t.Fatal(err)
	}

	paths = []string{
		"", ".", "..", "/", "//", "///", "//" + root, "/.", "/..", "/../..", "~", "~/", "~/palace", "~//palace/", "~/palace/../palace",
		"~root", "~root/x", "~nobody/palace", "~no-such-user-here/x", "~no-such-user-here", "./~", "a/~", "doc.go", "./doc.go", "../locks",
		"../locks/../locks/.", "missing", "missing/../doc.go", "missing/..", "a//b", "a/./b/", "...", ".../x", "/proc/self/..",
		root + "\xff", "bad\xff", "\xe2\x28\xa1/x", "C:\\Palace", "Palace", "PALACE/", up, up + "/link", up + "/../" + filepath.Base(root) + "/chain2",
	}
	for _, p := range []string{
		"", "/", "/.", "/home", "/home/", "/home//palace", "/link", "/link/", "/link/.", "/link/..", "/link/deep", "/link/deep/../..", "/abs",
		"/abs/deep/er/..", "/up", "/up/deep", "/chain", "/chain2", "/chain2/..", "/chain2/../chain2/deep", "/dangling", "/dangling/..",
		"/dangling/tail/x", "/loop", "/loop/x", "/ping", "/pong/x/y", "/dot", "/dot/dot/dot/link", "/rootlink", "/rootlink/etc", "/rootlink" + root + "/link",
		"/slashes", "/slashes/er/..", "/tofile", "/tofile/x", "/tofile/..", "/file/../link", "/file/x/../..", "/utf", "/utf/../straße", "/straße/x",
		"/宮殿/", "/badlink", "/badlink/x", "/bad\xff\xfe", "/bad\xff\xfe/..", "/updown", "/updown/palace/back/palace", "/home/palace/back",
		"/home/palace/back/home/palace/back", "/deeploop", "/nested", "/nested/x", "/homelink", "/tilde", "/~", "/~/x", "/sp ace/ x", "/missing/deep/er",
		"/missing/../link", "/link/missing/../../x", "/../" + filepath.Base(root) + "/link", "/LINK", "/e\u0301", "/\u00e9", "/a\nb", "/" + strings.Repeat("long", 80),
		"/" + strings.Repeat("d/", 600) + "x", strings.Repeat("/.", 300) + "/link", strings.Repeat("/home/..", 50) + "/link",
	} {
		paths = append(paths, root+p)
	}
	if len(paths) < 100 {
		t.Fatalf("only %d paths", len(paths))
	}
	return home, paths
}

func TestPathsResolveAsInPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to compare with")
	}
	home, paths := oddPaths(t, realpath(t.TempDir()))
	var asked []string
	for _, p := range paths {
		asked = append(asked, hex.EncodeToString([]byte(p)))
	}
	question, _ := json.Marshal(asked)
	cmd := exec.Command(python, "-c", pythonAnswers)
	cmd.Env = append(os.Environ(), "HOME="+home, "PYTHONUTF8=1")
	cmd.Stdin = strings.NewReader(string(question))
	answer, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want [][2]string
	if err := json.Unmarshal(answer, &want); err != nil {
		t.Fatal(err)
	}
	for i, p := range paths {
		resolved, _ := hex.DecodeString(want[i][0])
		got := Resolve(p, home)
		if got != string(resolved) {
			t.Errorf("%q\n got %q\nwant %q", p, got, resolved)
		}
		// An empty key: Python cannot encode this path, so MemPalace cannot lock it.
		if key := digest(got); want[i][1] != "" && key != want[i][1] {
			t.Errorf("%q: key %s, want %s", p, key, want[i][1])
		}
	}
}

func TestOnePalaceUnderTwoSpellingsHasOneKey(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	p := filepath.Join(root, "p")
	if err := os.Mkdir(p, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(p, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	want := Key(p)
	for _, s := range []string{root + "/link", p + "/.", p + "/../p", p + "/", root + "//link/../p"} {
		if got := Key(s); got != want {
			t.Errorf("%s has the key %s, %s has %s", s, got, p, want)
		}
	}
}

func TestAPathThatIsNotTextKeepsAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	a, b := Key("/p/\xff"), Key("/p/\xfe")
	if a == b || !isKey(a) || !isKey(b) {
		t.Errorf("keys %q and %q", a, b)
	}
}
