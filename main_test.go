package main_test

import (
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// buildDir is made and removed by TestMain; the program is built into it once.
var buildDir string

var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(buildDir, "castellan")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "castellan-test-")
	if err != nil {
		log.Fatal(err)
	}
	buildDir = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		log.Print(err)
	}
	os.Exit(code)
}

// binary is the program as a person would build it.
func binary(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatalf("go build: %v", err)
	}
	return path
}
