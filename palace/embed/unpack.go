package embed

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// archiveFiles are those of the archive; it may hold no others.
var archiveFiles = []string{configFile, onnxFile, "special_tokens_map.json", "tokenizer_config.json", tokenizerName, "vocab.txt"}

// unpack lays out an archive as dir/onnx, which is then a model that has been
// loaded once. What is unpacked before that lies beside it.
func unpack(ctx context.Context, archive io.Reader, dir string) error {
	beside, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(beside)
	if err := extract(ctx, archive, beside); err != nil {
		return err
	}
	if _, err := Load(beside); err != nil {
		return err
	}
	final := filepath.Join(dir, archiveFolder)
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	return os.Rename(beside, final)
}

func extract(ctx context.Context, archive io.Reader, dir string) error {
	zip, err := gzip.NewReader(&within{ctx, archive})
	if err != nil {
		return fmt.Errorf("it is no gzip file: %w", err)
	}
	var seen []string
	for list := tar.NewReader(zip); ; {
		h, err := list.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("it is no archive: %w", err)
		}
		name := strings.TrimPrefix(h.Name, "./")
		if h.Typeflag == tar.TypeDir && strings.TrimSuffix(name, "/") == archiveFolder || strings.HasPrefix(filepath.Base(name), "._") {
			continue // macOS packs such files beside the others
		}
		name, inside := strings.CutPrefix(name, archiveFolder+"/")
		if !inside || h.Typeflag != tar.TypeReg || !slices.Contains(archiveFiles, name) || slices.Contains(seen, name) {
			return fmt.Errorf("it holds %q, which is no file of the model", h.Name)
		}
		if h.Size > maxWeights {
			return fmt.Errorf("%s in it is %d bytes long", name, h.Size)
		}
		seen = append(seen, name)
		if err := write(filepath.Join(dir, name), list, h.Size); err != nil {
			return err
		}
	}
	for _, name := range archiveFiles {
		if !slices.Contains(seen, name) {
			return fmt.Errorf("%s is missing in it", name)
		}
	}
	return nil
}

// write copies exactly size bytes into a new file.
func write(path string, r io.Reader, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, r, size)
	return errors.Join(err, f.Sync(), f.Close())
}
