package embed

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// pack makes an archive; every member is a regular file unless said otherwise.
func pack(t *testing.T, members ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	list := tar.NewWriter(zip)
	for _, h := range members {
		content := []byte("{}")
		if name := filepath.Base(h.Name); h.Typeflag == 0 || h.Typeflag == tar.TypeReg {
			if known, err := os.ReadFile(filepath.Join(tiny, name)); err == nil {
				content = known
			}
		} else {
			content = nil
		}
		h.Size, h.Mode = int64(len(content)), 0o777
		if err := list.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := list.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(list.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func members(more ...tar.Header) []tar.Header {
	list := []tar.Header{{Name: "onnx/", Typeflag: tar.TypeDir}}
	for _, name := range archiveFiles {
		list = append(list, tar.Header{Name: "onnx/" + name})
	}
	return append(list, more...)
}

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// serve answers with the archive, going on where it is asked to.
func serve(t *testing.T, archive []byte) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, archiveName, time.Time{}, bytes.NewReader(archive))
	}))
	t.Cleanup(s.Close)
	return s
}

func mustLoadFetched(t *testing.T, dir string) {
	t.Helper()
	load(t, filepath.Join(dir, archiveFolder))
	left, err := filepath.Glob(filepath.Join(dir, ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestFetchLaysOutAModelForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	archive := pack(t, members()...)
	dir := filepath.Join(t.TempDir(), "a", "b")
	var last, of int64
	f := Fetch{From: serve(t, archive).URL, Sum: sumOf(archive), Dir: dir, Progress: func(done, total int64) { last, of = done, total }}
	for range 2 { // again, over the model that is there
		if err := f.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustLoadFetched(t, dir)
	}
	if last != int64(len(archive)) || of != last {
		t.Errorf("the last word was %d of %d", last, of)
	}
	if _, err := os.Stat(filepath.Join(dir, archiveName+".part")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the archive is still there: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestACutDownloadGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	archive := pack(t, members()...)
	var asked atomic.Int32
	var ranges [3]string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		ranges[n-1] = r.Header.Get("Range")
		if n == 1 {
			w.Header().Set("Content-Length", fmt.Sprint(len(archive)))
			w.Write(archive[:1000])
			return // the server's library cuts the connection
		}
		http.ServeContent(w, r, archiveName, time.Time{}, bytes.NewReader(archive))
	}))
	t.Cleanup(s.Close)
	f := Fetch{From: s.URL, Sum: sumOf(archive), Dir: t.TempDir()}
	var cut *DownloadError
	if err := f.Run(t.Context()); !errors.As(err, &cut) || !errors.Is(err, errCut) {
		t.Fatalf("%v", err)
	}
	if err := f.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustLoadFetched(t, f.Dir)
	if ranges[0] != "" || ranges[1] != "bytes=1000-" {
		t.Errorf("asked for %q", ranges)
	}
}

func TestAServerThatCannotGoOnBeginsAgain(t *testing.T) {
	t.Parallel()
	archive := pack(t, members()...)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(archive) }))
	t.Cleanup(s.Close)
	f := Fetch{From: s.URL, Sum: sumOf(archive), Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(f.Dir, archiveName+".part"), []byte("half of something"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustLoadFetched(t, f.Dir)
}

func TestADownloadThatWasWholeIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	archive := pack(t, members()...)
	f := Fetch{From: serve(t, archive).URL, Sum: sumOf(archive), Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(f.Dir, archiveName+".part"), archive, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustLoadFetched(t, f.Dir)
}

// What was changed on its way must not become a model, and must not stay in the
// way of the next attempt either.
func TestAnotherFileIsRefusedAndForgotten(t *testing.T) {
	t.Parallel()
	archive := pack(t, members()...)
	f := Fetch{From: serve(t, archive).URL, Sum: sumOf([]byte("another")), Dir: t.TempDir()}
	var wrong *SumError
	if err := f.Run(t.Context()); !errors.As(err, &wrong) || wrong.Got != sumOf(archive) {
		t.Fatalf("%v", err)
	}
	for _, name := range []string{archiveFolder, archiveName + ".part"} {
		if _, err := os.Stat(filepath.Join(f.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

func TestAFileGotByOtherMeansIsTakenAndStays(t *testing.T) {
	t.Parallel()
	archive := pack(t, members()...)
	path := filepath.Join(t.TempDir(), "here.tar.gz")
	if err := os.WriteFile(path, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	f := Fetch{From: path, Sum: sumOf(archive), Dir: t.TempDir()}
	if err := f.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustLoadFetched(t, f.Dir)
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// The sum already says who packed it; what it holds is looked at all the same.
func TestAnArchiveWithAnythingElseInstallsNothing(t *testing.T) {
	t.Parallel()
	for name, archive := range map[string][]byte{
		"a way out":        pack(t, members(tar.Header{Name: "onnx/../../evil"})...),
		"an absolute path": pack(t, members(tar.Header{Name: "/tmp/evil"})...),
		"a link":           pack(t, members(tar.Header{Name: "onnx/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})...),
		"another file":     pack(t, members(tar.Header{Name: "onnx/run.sh"})...),
		"a file twice":     pack(t, members(tar.Header{Name: "onnx/model.onnx"})...),
		"a file too few":   pack(t, members()[:5]...),
		"no archive":       []byte("<html>log in first</html>"),
	} {
		f := Fetch{From: serve(t, archive).URL, Sum: sumOf(archive), Dir: t.TempDir()}
		var bad *ModelError
		if err := f.Run(t.Context()); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(f.Dir, archiveFolder)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a model is there: %v", name, err)
		}
	}
}

func TestTwoDoNotFetchAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock := flock.New(filepath.Join(dir, ".lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if err := (Fetch{Dir: dir}).Run(t.Context()); !errors.Is(err, ErrFetching) {
		t.Errorf("%v", err)
	}
}

func TestRefusalsSayWhatElseCanBeDone(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for from, want := range map[string]string{s.URL: "404", "ftp://x/y": "only http", filepath.Join(t.TempDir(), "none"): "--from FILE", t.TempDir(): "no file"} {
		if err := (Fetch{From: from, Dir: t.TempDir()}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", from, err)
		}
	}
	if err := (Fetch{From: s.URL, Dir: t.TempDir()}).Run(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
