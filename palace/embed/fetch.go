package embed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// The archive that Chroma downloads, and where from.
const (
	ArchiveURL = "https://chroma-onnx-models.s3.amazonaws.com/all-MiniLM-L6-v2/onnx.tar.gz"
	ArchiveSum = "913d7300ceae3b2dbc2c50d1de4baacab4be7b9380491c27fab7418616a16ec3"

	archiveFolder = "onnx"
	archiveName   = "onnx.tar.gz"
	maxArchive    = 512 << 20
)

// Fetch gets the model.
type Fetch struct {
	// From is a URL or the path of a file that was downloaded by other means;
	// Sum is its sha256. ArchiveURL and ArchiveSum if empty.
	From, Sum string
	// Dir is where the model goes, into a folder "onnx"; see CacheDir.
	Dir string
	// Client is http.DefaultClient if nil.
	Client *http.Client
	// Progress hears of bytes on their way; total is -1 if unknown. It may be
	// nil.
	Progress func(done, total int64)
}

var (
	// ErrFetching says that another process is at it.
	ErrFetching = errors.New("another castellan is fetching the model already; wait for it")
	// errCut is a download that ended before its end.
	errCut = errors.New("the connection ended early; castellan model fetch goes on where it stopped")
)

// SumError says that what came is not the file that was asked for.
type SumError struct{ From, Want, Got string }

func (e *SumError) Error() string {
	return fmt.Sprintf("%s has the sha256 %s and not %s: it is another file or was changed on its way; nothing was installed", e.From, e.Got, e.Want)
}

// DownloadError says why there was no file to get.
type DownloadError struct {
	From string
	Err  error
}

func (e *DownloadError) Error() string {
	return fmt.Sprintf("%s: %v; an archive got by other means is taken by: castellan model fetch --from FILE", e.From, e.Err)
}

// Unwrap is what went wrong.
func (e *DownloadError) Unwrap() error { return e.Err }

// Run downloads the archive, or goes on with a download that was cut off,
// checks it and lays out the model. Until the last step, a rename, there is
// either the old model or none.
func (f Fetch) Run(ctx context.Context) error {
	if f.From == "" {
		f.From = ArchiveURL
	}
	if f.Sum == "" {
		f.Sum = ArchiveSum
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(f.Dir, ".lock"), flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil {
		return err
	} else if !ok {
		return ErrFetching
	}
	defer lock.Unlock()
	path, ours := f.From, false
	if strings.Contains(f.From, "://") {
		path, ours = filepath.Join(f.Dir, archiveName+".part"), true
		if err := f.download(ctx, path); err != nil {
			return err
		}
	}
	archive, err := os.Open(path)
	if err != nil {
		return &DownloadError{f.From, plainly(err)}
	}
	defer archive.Close()
	if info, err := archive.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxArchive {
		return &DownloadError{f.From, errors.New("it is no file of a size that the model can have")}
	}
	got, err := sum(ctx, archive, path)
	if err != nil {
		return err
	}
	if got != f.Sum {
		if ours {
			// It would be gone on with for ever.
			if err := os.Remove(path); err != nil {
				return err
			}
		}
		return &SumError{f.From, f.Sum, got}
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := unpack(ctx, archive, f.Dir); err != nil {
		return &ModelError{path, err}
	}
	if ours {
		return os.Remove(path)
	}
	return nil
}

// download fills the file at path up to its end.
func (f Fetch) download(ctx context.Context, path string) error {
	if !strings.HasPrefix(f.From, "https://") && !strings.HasPrefix(f.From, "http://") {
		return &DownloadError{f.From, errors.New("only http and https are spoken")}
	}
	part, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer part.Close()
	have, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.From, nil)
	if err != nil {
		return &DownloadError{f.From, err}
	}
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	client := f.Client
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(req)
	if err != nil {
		return &DownloadError{f.From, err}
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusRequestedRangeNotSatisfiable && have > 0:
		return nil // all of it is here, or something else, which its sum tells
	case answer.StatusCode == http.StatusPartialContent && strings.HasPrefix(answer.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
	case answer.StatusCode == http.StatusOK:
		// The server does not know how to go on, so it begins again.
		have = 0
		if err := part.Truncate(0); err != nil {
			return err
		}
		if _, err := part.Seek(0, io.SeekStart); err != nil {
			return err
		}
	default:
		return &DownloadError{f.From, fmt.Errorf("the server answers %s", answer.Status)}
	}
	total := int64(-1)
	if answer.ContentLength >= 0 {
		total = have + answer.ContentLength
	}
	if total > maxArchive {
		return &DownloadError{f.From, fmt.Errorf("%d bytes are more than the model has", total)}
	}
	w := &counting{w: part, done: have, total: total, tell: f.Progress}
	_, err = io.Copy(w, io.LimitReader(answer.Body, maxArchive-have))
	if err == nil && total >= 0 && w.done != total {
		err = io.ErrUnexpectedEOF
	}
	if err != nil && ctx.Err() == nil {
		return &DownloadError{f.From, fmt.Errorf("%w (%w)", errCut, err)}
	}
	if err != nil {
		return err
	}
	return part.Sync()
}

// counting tells of progress a few times a second.
type counting struct {
	w           io.Writer
	done, total int64
	tell        func(done, total int64)
	told        time.Time
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.done += int64(n)
	if c.tell != nil && (time.Since(c.told) > 200*time.Millisecond || c.done == c.total) {
		c.told = time.Now()
		c.tell(c.done, c.total)
	}
	return n, err
}
