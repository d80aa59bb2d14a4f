package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"

	"castellan/palace/action/undo"
	"castellan/palace/backend"
	"castellan/palace/chroma"
)

// sampled is what a palace was at one moment, as far as it is held against what
// it is later.
type sampled struct {
	print    print
	facts    map[string]chroma.CollectionFacts // by id
	records  map[string][]backend.Record       // by collection name
	sidecars map[string]string
}

// sampleRows are looked at from either end of a collection.
const sampleRows = 25

func (run *running) sample(ctx context.Context, pt *patient) (sampled, error) {
	s := sampled{facts: map[string]chroma.CollectionFacts{}, records: map[string][]backend.Record{}, sidecars: map[string]string{}}
	var err error
	if s.print, err = printOf(ctx, pt.p); err != nil {
		return s, err
	}
	for _, c := range pt.facts.Collections {
		s.facts[c.Row.ID] = c
		list, err := records(ctx, pt.p, c)
		if err != nil {
			return s, err
		}
		s.records[c.Row.Name] = list
	}
	for _, f := range run.r.site.Layout.Sidecars {
		s.sidecars[f.Path] = outside(f.Path)
	}
	return s, nil
}

// outside is what can be said of a file without opening it: closing one that
// SQLite has open would drop its locks.
func outside(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "gone"
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano(), info.Mode())
}

func records(ctx context.Context, p *chroma.Palace, c chroma.CollectionFacts) ([]backend.Record, error) {
	if c.Row.ConfigErr != nil || c.Row.Segment(chroma.ScopeMetadata) == nil {
		return nil, nil
	}
	col, err := p.Collection(ctx, c.Row.Name)
	if err != nil {
		return nil, err
	}
	all := backend.Documents | backend.Metadatas | backend.Embeddings
	page, err := col.Get(ctx, backend.Query{Include: all, Limit: sampleRows})
	if err != nil {
		return nil, err
	}
	list := page.Records
	if n := int(deref(c.Rows)) - sampleRows; n > sampleRows {
		page, err := col.Get(ctx, backend.Query{Include: all, Limit: sampleRows, Offset: n})
		if err != nil {
			return nil, err
		}
		list = append(list, page.Records...)
	}
	return list, nil
}

// check holds the palace against what it was before a mode.
func (run *running) check(ctx context.Context, m Mode, t treatment, before sampled) (after sampled, err error) {
	pt, err := run.r.admit(ctx)
	if err != nil {
		return after, err
	}
	defer func() { err = errors.Join(err, pt.discharge()) }()
	if after, err = run.sample(ctx, pt); err != nil {
		return after, err
	}
	run.result.After = states(pt.facts)
	if why := compare(m, t, before, after); why != "" {
		return after, run.rollBack(ctx, refuse(NotVerified, run.r.path(), "please report this", "after %s %s", m, why))
	}
	return after, nil
}

// compare says what is not as it has to be after a mode; "" = nothing.
func compare(m Mode, t treatment, before, after sampled) string {
	// Writes that were hidden may show.
	revealing := m == MaxSeqID || m == SeqIDBlob
	if x, ok := t.(*reindex); ok {
		revealing = slices.ContainsFunc(x.list, func(g *gathered) bool { return len(g.mends) > 0 })
	}
	for id, b := range before.facts {
		a, ok := after.facts[id]
		switch {
		case !ok:
			return fmt.Sprintf("the collection %s is gone", b.Row.Name)
		case before.print.Rows[id] != after.print.Rows[id]:
			return fmt.Sprintf("%s has %d stored drawers, where it had %d", b.Row.Name, after.print.Rows[id], before.print.Rows[id])
		case a.Rows == nil, b.Rows != nil && (*a.Rows < *b.Rows || *a.Rows > *b.Rows && !revealing):
			return fmt.Sprintf("%s has another number of drawers", b.Row.Name)
		case a.Coverage == nil:
			return fmt.Sprintf("what a search in %s can reach cannot be told", b.Row.Name)
		case m != Index && !revealing && b.Coverage != nil && a.Coverage.Searchable < b.Coverage.Searchable:
			return fmt.Sprintf("a search in %s reaches %d drawers, where it reached %d", b.Row.Name, a.Coverage.Searchable, b.Coverage.Searchable)
		}
		if !revealing {
			if why := sameRecords(b.Row.Config.Space, before.records[b.Row.Name], after.records[b.Row.Name]); why != "" {
				return b.Row.Name + ": " + why
			}
		}
	}
	if x, ok := t.(*reindex); ok {
		for _, g := range x.list {
			v := after.facts[g.row.ID].Coverage
			if v == nil || v.Missing > int64(g.by[nowhere]) || v.Stale > 0 {
				return fmt.Sprintf("a search in %s does not reach every vector there is", g.row.Name)
			}
		}
	}
	for path, was := range before.sidecars {
		if after.sidecars[path] != was {
			return path + " has changed"
		}
	}
	return ""
}

// sameRecords compares a sample: texts and metadata as they are, vectors where
// they could be read before.
func sameRecords(space string, before, after []backend.Record) string {
	by := map[string]backend.Record{}
	for _, r := range after {
		by[r.ID] = r
	}
	for _, b := range before {
		a, ok := by[b.ID]
		switch {
		case !ok:
			return fmt.Sprintf("the drawer %q is not where it was", b.ID)
		case !reflect.DeepEqual(a.Document, b.Document) || !reflect.DeepEqual(a.Metadata, b.Metadata):
			return fmt.Sprintf("the text or the metadata of %q changed", b.ID)
		case b.Embedding != nil && !sameVector(space, a.Embedding, b.Embedding):
			return fmt.Sprintf("the vector of %q changed", b.ID)
		}
	}
	return ""
}

// sameVector allows for the rounding of a vector that was divided by its length
// and multiplied with it again. By cosine only the direction counts.
func sameVector(space string, a, b []float32) bool {
	na, okA := length(a)
	nb, okB := length(b)
	if !okB || nb == 0 {
		return true // it was none
	}
	if len(a) != len(b) || !okA {
		return false
	}
	if space != "cosine" {
		na, nb = 1, 1
	}
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(float64(a[i])/na-float64(b[i])/nb))
	}
	scale := 1.0
	if space != "cosine" {
		scale, _ = length(b)
	}
	return worst <= 1e-4*scale
}

// verify is the last look: the whole database, and Chroma itself where it was
// asked for.
func (run *running) verify(ctx context.Context) error {
	if err := run.phase("verify", false); err != nil {
		return err
	}
	if err := run.at("verify"); err != nil {
		return err
	}
	pt, err := run.r.admit(ctx)
	if err != nil {
		return err
	}
	defer pt.discharge()
	check, err := pt.p.CheckDatabase(ctx, chroma.Check{Copied: true})
	if err != nil {
		return err
	}
	if len(check.Damage) > 0 {
		return refuse(NotVerified, run.r.path(), "please report this", "the database is damaged: %s", check.Damage[0])
	}
	run.result.Verified.Database = true
	text := check.Text
	run.result.Verified.FullText = check.TextErr == nil && (len(text.Damage) == 0 || text.NULDocuments > 0)
	for _, m := range run.j.Modes {
		if m == FTS && (check.TextErr != nil || !run.result.Verified.FullText || deref(text.Dead)+deref(text.Differing) > 0) {
			return refuse(NotVerified, run.r.path(), "please report this", "the full-text index is not sound: %v %v", text.Damage, check.TextErr)
		}
	}
	run.result.Verified.Rows, run.result.Verified.Samples, run.result.Verified.Sidecars = true, true, true
	if run.r.o.Python != "" {
		return run.askChroma(ctx, pt)
	}
	return nil
}

// rollBack restores what was before, when what was done cannot be seen to be
// right.
func (run *running) rollBack(ctx context.Context, why error) error {
	if err := run.r.putBack(context.WithoutCancel(ctx), run.j.Backup, run.work, run.at); err != nil {
		return errors.Join(why, fmt.Errorf("and putting the copy back failed: %w", err))
	}
	run.result.RolledBack = true
	s, err := undo.Open(run.r.o.StateDir, run.r.key(), undo.Options{Now: run.r.o.Now})
	if err == nil {
		err = s.MarkUndone(run.j.Undo)
	}
	if err != nil {
		return errors.Join(why, err)
	}
	return errors.Join(why, run.finish())
}

// State is what a collection was before or after.
type State struct {
	Collection string `json:"collection"`
	Rows       *int64 `json:"rows"`
	Indexed    *int64 `json:"indexed"`
	Queued     *int64 `json:"queued"`
	Searchable *int64 `json:"searchable"`
	Missing    *int64 `json:"missing"`
	Stale      *int64 `json:"stale"`
}

func states(f *chroma.Facts) []State {
	list := []State{}
	for _, c := range f.Collections {
		s := State{Collection: c.Row.Name, Rows: c.Rows}
		if v := c.Coverage; v != nil {
			s.Indexed, s.Queued, s.Searchable, s.Missing, s.Stale = &v.Indexed, &v.Queued, &v.Searchable, &v.Missing, &v.Stale
		}
		list = append(list, s)
	}
	return list
}

// Recall is which part of the true nearest ten an index finds.
type Recall struct {
	Collection string  `json:"collection"`
	Recall     float64 `json:"recall"`
	Queries    int     `json:"queries"`
}

// Verified says what was seen to be right.
type Verified struct {
	Backup   bool `json:"backup"`
	Database bool `json:"database"`
	FullText bool `json:"full_text"`
	Rows     bool `json:"rows"`
	Samples  bool `json:"samples"`
	Sidecars bool `json:"sidecars"`
	// Chroma is nil where it was not asked for.
	Chroma json.RawMessage `json:"chroma"`
}

// Result is what a repair did; it is the "result" of the command's document.
type Result struct {
	Before   []State  `json:"before"`
	After    []State  `json:"after"`
	Backup   string   `json:"backup"`
	Undo     string   `json:"undo"`
	Verified Verified `json:"verified"`
	Recall   []Recall `json:"recall"`
	// Moved are directories that are in the backup now.
	Moved []string `json:"moved"`
	// SetAside counts rows of the queue whose content could not be used.
	SetAside int `json:"set_aside"`
	// Without counts drawers whose vector exists nowhere.
	Without    int  `json:"without_vector"`
	RolledBack bool `json:"rolled_back"`

	vectors int
}

func (r *Result) note(g *gathered) {
	r.vectors += g.have()
	r.SetAside += g.setAside
	r.Without += g.by[nowhere]
}

// Summary is one sentence for people.
func (r *Result) Summary() string {
	s := "repaired and verified"
	if r.vectors > 0 {
		s = fmt.Sprintf("%s searchable again", count(int64(r.vectors), "vector", "vectors"))
		if r.Without > 0 {
			s += fmt.Sprintf("; %s have none left", count(int64(r.Without), "drawer", "drawers"))
		}
	}
	return s + "; the copy from before is " + r.Backup
}
