package health

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Growth says how a palace has grown since Castellan last looked thoroughly.
type Growth struct {
	Since       string             `json:"since"`
	Bytes       Change             `json:"bytes"` // on the disk
	Collections []CollectionGrowth `json:"collections"`
	// Looks are the moments that are remembered, this one left out.
	Looks int `json:"looks"`
}

// CollectionGrowth is the growth of one collection that was there before.
type CollectionGrowth struct {
	Name     string `json:"name"`
	Rows     Change `json:"rows"`
	Elements Change `json:"elements"` // of the index
	Capacity Change `json:"capacity"`
}

// Change is a figure then and now.
type Change struct {
	Before int64 `json:"before"`
	Now    int64 `json:"now"`
}

// moment is what is remembered of one moment.
type moment struct {
	At          time.Time               `json:"at"`
	Bytes       int64                   `json:"bytes"`
	Collections map[string]lookedAtOnce `json:"collections"`
}

type lookedAtOnce struct {
	Rows     int64 `json:"rows"`
	Elements int64 `json:"elements"`
	Capacity int64 `json:"capacity"`
}

// history is a small file in Castellan's state directory, never in a palace:
// figures only, no text, for its owner's eyes. What cannot be read is begun
// anew, since nothing depends on it.
type history struct {
	file string
	mu   sync.Mutex
}

// Bounds of the history. Looks that follow closely replace each other.
const (
	growthFile      = "growth.json"
	mostPalaces     = 100
	mostLooks       = 50
	mostCollections = 100
	mostHistory     = 8 << 20 // bytes of the file
	looksApart      = time.Hour
)

func (h *history) read() (map[string][]moment, error) {
	all := map[string][]moment{}
	f, err := os.Open(h.file)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New(h.file+" is no regular file"))
	}
	b, err := io.ReadAll(io.LimitReader(f, mostHistory))
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(b, &all) != nil {
		return map[string][]moment{}, nil
	}
	return all, nil
}

// growth compares a report with the last look and, if keep, remembers it.
func (h *history) growth(r *Report, now time.Time, keep bool) (*Growth, error) {
	path := r.Palace.Path
	if r.Palace.RealPath != nil {
		path = *r.Palace.RealPath
	}
	if h.file == "" || r.Palace.State != OK || r.Palace.Bytes == nil || strings.HasPrefix(h.file, path+string(filepath.Separator)) {
		return nil, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	all, err := h.read()
	if err != nil {
		return nil, err
	}
	this, looks := lookOf(r, now), all[path]
	var g *Growth
	if n := len(looks); n > 0 {
		g = grown(looks[n-1], this, n)
	}
	if !keep {
		return g, nil
	}
	// Of looks in quick succession the first stays, and the newest.
	if n := len(looks); n > 1 && this.At.Sub(looks[n-2].At) < looksApart {
		looks = looks[:n-1]
	}
	looks = append(looks, this)
	all[path] = looks[max(0, len(looks)-mostLooks):]
	for len(all) > mostPalaces {
		forgetOldest(all)
	}
	return g, h.write(all)
}

func lookOf(r *Report, now time.Time) moment {
	l := moment{At: now.UTC().Truncate(time.Second), Bytes: r.Palace.Bytes.Allocated, Collections: map[string]lookedAtOnce{}}
	for _, c := range r.Collections[:min(len(r.Collections), mostCollections)] {
		one := lookedAtOnce{Rows: deref(c.Rows)}
		if c.Index != nil {
			one.Elements, one.Capacity = deref(c.Index.Elements), deref(c.Index.Capacity)
		}
		l.Collections[c.Name] = one
	}
	return l
}

func grown(then, now moment, looks int) *Growth {
	g := &Growth{Since: then.At.Format(time.RFC3339), Bytes: Change{then.Bytes, now.Bytes}, Collections: []CollectionGrowth{}, Looks: looks}
	for name, a := range then.Collections {
		if b, ok := now.Collections[name]; ok {
			g.Collections = append(g.Collections, CollectionGrowth{
				Name: name, Rows: Change{a.Rows, b.Rows}, Elements: Change{a.Elements, b.Elements}, Capacity: Change{a.Capacity, b.Capacity},
			})
		}
	}
	slices.SortFunc(g.Collections, func(a, b CollectionGrowth) int { return strings.Compare(a.Name, b.Name) })
	return g
}

func forgetOldest(all map[string][]moment) {
	oldest, at := "", time.Time{}
	for path, looks := range all {
		newest := time.Time{}
		if n := len(looks); n > 0 {
			newest = looks[n-1].At
		}
		if oldest == "" || newest.Before(at) {
			oldest, at = path, newest
		}
	}
	delete(all, oldest)
}

func (h *history) write(all map[string][]moment) error {
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	dir := filepath.Dir(h.file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, growthFile+".*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), h.file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
