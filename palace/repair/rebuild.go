package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/dbfile"
	"castellan/palace/durable"

	"github.com/dustin/go-humanize"
)

// Rebuilt is the result of --mode from-sqlite.
type Rebuilt struct {
	Palace      string              `json:"palace"`
	Collections []RebuiltCollection `json:"collections"`
}

// RebuiltCollection is a collection of the new palace.
type RebuiltCollection struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
}

const (
	rebuiltInfix    = ".castellan-rebuilt-"
	rebuildingInfix = ".castellan-rebuilding-"
	copyStep        = 500
)

// planRebuild plans a new palace beside the old one, which stays as it is.
func (r *Repair) planRebuild(ctx context.Context, p *action.Plan) error {
	p.Title, p.Risk = "Make a new palace beside "+r.path(), action.RiskReversible
	p.Backup = ""
	old, err := chroma.Open(ctx, r.dir, chroma.Options{})
	if err != nil {
		return err
	}
	defer old.Close()
	list, err := old.Catalog(ctx)
	if err != nil {
		return err
	}
	var rows int
	for _, row := range list {
		n, err := r.whole(ctx, old, row)
		if err != nil {
			return err
		}
		rows += n
		p.Steps = append(p.Steps, fmt.Sprintf("copy the %s of %s, with their vectors, and compare each", count(int64(n), "row", "rows"), row.Name))
	}
	to := r.free(rebuiltInfix)
	p.Steps = append([]string{"make an empty palace in " + to}, p.Steps...)
	p.Touches = []string{to}
	p.Leaves = []string{r.dir + ", with everything in it: nothing is swapped"}
	for _, f := range r.site.Layout.Sidecars {
		p.Leaves = append(p.Leaves, f.Path+", which belongs to the old palace: copy it when you change over")
	}
	bytes := 3*old.DB().Facts().Size + allocated([]string{r.dir}) + 4<<20
	for _, s := range r.site.Layout.Segments {
		bytes += 2 * s.Size.Allocated
	}
	p.BytesNeeded = &bytes
	if free := freeBytes(filepath.Dir(r.dir)); free >= 0 {
		p.BytesFree = &free
		if free < bytes+spare {
			p.Refusal = refuse(DiskLow, filepath.Dir(r.dir), "free space there", "%s are needed and %s are free", humanize.IBytes(uint64(bytes)), humanize.IBytes(uint64(free)))
		}
	}
	p.Estimate = time.Second + time.Duration(rows)*2*time.Millisecond
	return nil
}

// free is a name beside the palace that nothing has yet.
func (r *Repair) free(infix string) string {
	base := strings.TrimRight(r.dir, string(filepath.Separator)) + infix + r.o.Now().Format(stampForm)
	name := base
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
}

// whole counts the rows of a collection, and refuses one of which fewer can be
// read than there are, or whose vectors are not all there: a new palace would
// hold less, and look sound.
func (r *Repair) whole(ctx context.Context, p *chroma.Palace, row chroma.CollectionRow) (int, error) {
	c, err := p.Collection(ctx, row.Name)
	if err != nil {
		return 0, err
	}
	n, without := 0, 0
	err = backend.Walk(ctx, c, backend.Query{Include: backend.Embeddings}, func(rec backend.Record) error {
		n++
		if rec.Embedding == nil {
			without++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	stored := int64(0)
	if seg := row.Segment(chroma.ScopeMetadata); seg != nil {
		err = p.DB().View(ctx, func(tx *dbfile.Tx) error {
			return tx.QueryRow(ctx, "SELECT count(*) FROM embeddings NOT INDEXED WHERE segment_id = ?", []any{seg.ID}, &stored)
		})
		if err != nil {
			return 0, err
		}
	}
	listed, err := c.Count(ctx, backend.Filter{})
	switch {
	case err != nil:
		return 0, err
	case without > 0:
		return 0, refuse(RowsMissing, row.Name, "castellan repair --mode index gathers what vectors there are; castellan export writes every text", "%s of %d cannot be copied: their vectors are nowhere to be read", count(int64(without), "row", "rows"), n)
	case int64(n) != listed || int64(n) < stored:
		return 0, refuse(RowsMissing, row.Name, "castellan export what can be read, or put a backup back: castellan backups list", "%d rows can be read, where the database counts %d and %d", n, listed, stored)
	}
	return n, nil
}

// rebuild makes the new palace under another name, and gives it its own when
// every row of it has been compared.
func (r *Repair) rebuild(ctx context.Context, report action.Reporter) (res action.Result, err error) {
	to := ""
	if t := report.Plan().Touches; len(t) == 1 {
		to = t[0]
	}
	if !strings.HasPrefix(to, r.dir+rebuiltInfix) {
		return res, errors.New("the plan names no new palace; this is a defect of Castellan, please report it")
	}
	temp := r.free(rebuildingInfix)
	if err := report.Phase(action.Phase{N: 1, Of: 3, Name: "look again", CanStop: true}); err != nil {
		return res, err
	}
	old, err := chroma.Open(ctx, r.dir, chroma.Options{})
	if err != nil {
		return res, err
	}
	defer old.Close()
	list, err := old.Catalog(ctx)
	if err != nil {
		return res, err
	}
	done := &Rebuilt{Palace: to}
	for _, row := range list {
		n, err := r.whole(ctx, old, row)
		if err != nil {
			return res, err
		}
		done.Collections = append(done.Collections, RebuiltCollection{row.Name, n})
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	if err := report.Phase(action.Phase{N: 2, Of: 3, Name: "copy every row", CanStop: true}); err != nil {
		return res, err
	}
	if err := r.fill(ctx, old, list, temp, report); err != nil {
		return res, err
	}
	if err := report.Phase(action.Phase{N: 3, Of: 3, Name: "name it"}); err != nil {
		return res, err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return res, refuse(BackupExists, to, "plan again: the next plan has another name", "there is something under the new palace's name already")
	}
	if err := errors.Join(sameOwners(temp, r.dir), os.Rename(temp, to), durable.SyncDir(filepath.Dir(to))); err != nil {
		return res, err
	}
	return action.Result{Summary: "the new palace is " + to + "; the old one is as it was", Detail: done}, nil
}

func (r *Repair) fill(ctx context.Context, old *chroma.Palace, list []chroma.CollectionRow, dir string, report action.Reporter) error {
	if err := r.at("create"); err != nil {
		return err
	}
	if err := chroma.Create(ctx, dir); err != nil {
		return err
	}
	fresh, err := chroma.Open(ctx, dir, chroma.Options{})
	if err != nil {
		return err
	}
	w := fresh.Writable(chroma.Writing{Alone: func(context.Context) (bool, error) { return true, nil }}) // nobody knows of it yet
	for _, row := range list {
		if err = r.copyCollection(ctx, old, w, row, report); err != nil {
			break
		}
	}
	return errors.Join(err, fresh.Close())
}

func (r *Repair) copyCollection(ctx context.Context, old *chroma.Palace, w *chroma.Writable, row chroma.CollectionRow, report action.Reporter) error {
	from, err := old.Collection(ctx, row.Name)
	if err != nil {
		return err
	}
	to, err := w.CreateCollection(ctx, r.made(row))
	if err != nil {
		return err
	}
	total, err := from.Count(ctx, backend.Filter{})
	if err != nil {
		return err
	}
	var done int64
	all := backend.Documents | backend.Metadatas | backend.Embeddings | backend.URIs
	var step []backend.Record
	flush := func() error {
		if len(step) == 0 {
			return nil
		}
		if err := r.at("add"); err != nil {
			return err
		}
		if err := to.Add(ctx, step); err != nil {
			return err
		}
		if err := same(ctx, to, step, all); err != nil {
			return err
		}
		done += int64(len(step))
		report.Progress(done, total, "rows of "+row.Name)
		step = step[:0]
		return nil
	}
	err = backend.Walk(ctx, from, backend.Query{Include: all}, func(rec backend.Record) error {
		step = append(step, rec)
		if len(step) < copyStep {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return err
}

// made describes the collection to make. The space is what the collection was
// made with: where its schema was lost, its metadata still says so.
func (r *Repair) made(row chroma.CollectionRow) backend.NewCollection {
	c := backend.NewCollection{Name: row.Name, Space: row.Config.Space, Metadata: row.Metadata, HNSW: row.Config.HNSW, Embedder: chroma.NoEmbedder}
	if s, ok := row.Metadata["hnsw:space"].(string); ok && (row.Config.Source == "default" || c.Space == "") {
		c.Space = s
	}
	if row.Config.Embedder.Kind == "known" {
		c.Embedder = row.Config.Embedder.Name
	}
	if row.Dimension != nil {
		c.Dimension = *row.Dimension
	}
	return c
}

// same compares rows with what the new palace answers, to the bit.
func same(ctx context.Context, c backend.Collection, want []backend.Record, all backend.Include) error {
	ids := make([]string, len(want))
	for i, rec := range want {
		ids[i] = rec.ID
	}
	got := map[string]backend.Record{}
	err := backend.Walk(ctx, c, backend.Query{Filter: backend.Filter{IDs: ids}, Include: all}, func(rec backend.Record) error {
		got[rec.ID] = rec
		return nil
	})
	if err != nil {
		return err
	}
	for _, rec := range want {
		g, ok := got[rec.ID]
		if !ok || !reflect.DeepEqual(g.Document, rec.Document) || !reflect.DeepEqual(g.URI, rec.URI) || !slices.Equal(g.Embedding, rec.Embedding) ||
			!reflect.DeepEqual(orEmpty(g.Metadata), orEmpty(rec.Metadata)) {
			return refuse(NotVerified, rec.ID, "please report this; the old palace is as it was", "the copy of the row is not what the row is")
		}
	}
	return nil
}

func orEmpty(m backend.Metadata) backend.Metadata {
	if m == nil {
		return backend.Metadata{}
	}
	return m
}
