package embed

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Place is a directory where a model may be, and who says so.
type Place struct{ Dir, Source string }

const modelName = "all-MiniLM-L6-v2"

// Places are where the model is looked for, in this order: the directory that
// was named, by flag or by CASTELLAN_MODEL_DIR, and then nowhere else; or
// Chroma's cache, which is never written, and our own.
func Places(named string, getenv func(string) string) ([]Place, error) {
	if named != "" {
		return []Place{{named, "--model-dir"}}, nil
	}
	if dir := getenv("CASTELLAN_MODEL_DIR"); dir != "" {
		return []Place{{dir, "CASTELLAN_MODEL_DIR"}}, nil
	}
	var list []Place
	home, err := os.UserHomeDir()
	if err == nil {
		list = append(list, Place{filepath.Join(home, ".cache", "chroma", "onnx_models", modelName, "onnx"), "Chroma's cache"})
	}
	own, ownErr := CacheDir()
	if ownErr == nil {
		list = append(list, Place{filepath.Join(own, archiveFolder), "Castellan's cache"})
	}
	if len(list) == 0 {
		return nil, errors.Join(err, ownErr)
	}
	return list, nil
}

// CacheDir is where Fetch puts the model: for one person, outside of every
// palace.
func CacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for a model: %w", err)
	}
	return filepath.Join(dir, "castellan", "models", modelName), nil
}

// MissingError says that the model is nowhere.
type MissingError struct{ Looked []Place }

func (e *MissingError) Error() string {
	dirs := make([]string, len(e.Looked))
	for i, p := range e.Looked {
		dirs[i] = p.Dir
	}
	return fmt.Sprintf("no embedding model in %s; castellan model fetch downloads it (79 MB)", strings.Join(dirs, " or "))
}

// Open loads the model from the first place that has a good one. Without any it
// returns what is wrong with the first one that is there, with its place, or a
// *MissingError.
func Open(places []Place) (*Model, Place, error) {
	var first error
	var at Place
	for _, p := range places {
		// Whoever names Chroma's directory may leave out its last folder.
		if inner := filepath.Join(p.Dir, archiveFolder); !present(p.Dir) && present(inner) {
			p.Dir = inner
		}
		if !present(p.Dir) {
			continue
		}
		m, err := Load(p.Dir)
		if err == nil {
			return m, p, nil
		}
		if first == nil {
			first, at = err, p
		}
	}
	return nil, at, cmp.Or(first, error(&MissingError{places}))
}

// present tells whether there is something of a model in a directory. An empty
// one, or one that Chroma has just made for its download, is none.
func present(dir string) bool {
	for _, name := range []string{configFile, onnxFile, safetensorsFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}
