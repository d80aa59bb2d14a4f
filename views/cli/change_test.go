package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// damage DIR cuts every waiting write below a directory short.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	n := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".entry") {
			return err
		}
		n++
		return os.Truncate(path, 40)
	}))
	if n == 0 {
		ts.Fatalf("no write waits in %s", args[0])
	}
}
