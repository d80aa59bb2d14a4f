package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"castellan/palace/action"
	"castellan/palace/chroma"
	"castellan/palace/durable"
	"castellan/palace/health"
	"castellan/palace/hnswlib"

	"github.com/dustin/go-humanize"
)

// reindex builds the vector index again from the vectors that are stored.
type reindex struct {
	// mode is Index, or IndexMetadata for an index that has vectors and no names.
	mode Mode
	// all rebuilds sound ones too: it was asked for.
	all  bool
	list []*gathered
}

// queueAtMost is how many vectors go back through the queue at most. Chroma
// builds an index from them whenever it opens the palace.
const queueAtMost = 2000

// Chroma's own parameters where a collection records none.
const (
	defaultM            = 16
	defaultConstruction = 100
	defaultSearch       = 100
	defaultThreshold    = 1000
)

// throughQueue decides between the two ways to give Chroma its vectors. Few go
// back into its queue, which is what Chroma keeps them in until enough have
// gathered. More are written as an index, which opens at once; so are those of
// an index that has lost some, since without any files it would pass for one
// that was never written. Rows that still wait to be applied must not be
// overtaken in the queue.
func (g *gathered) throughQueue() bool {
	return g.waiting == 0 && g.by[nowhere] == 0 && g.have() <= queueAtMost && g.have() < orElse(g.row.Config.HNSW.SyncThreshold, defaultThreshold)
}

func orElse(v *int, or int) int {
	if v == nil || *v <= 0 {
		return or
	}
	return *v
}

func (x *reindex) prepare(ctx context.Context, pt *patient) (work, error) {
	w := work{}
	codes := pt.sick(ctx, x.mode)
	sick := func(c chroma.CollectionFacts) bool { return codes[c.Row.Name] != 0 }
	found := slices.ContainsFunc(pt.facts.Collections, sick)
	x.list = nil
	var none *action.RefusedError
	for _, c := range pt.facts.Collections {
		if c.Rows == nil || *c.Rows == 0 && !sick(c) || found && !sick(c) || !found && !x.all {
			continue
		}
		g, err := pt.gather(ctx, c)
		if err != nil {
			return w, err
		}
		if g.have() == 0 && len(g.places) > 0 {
			none = refuse(NoVectors, c.Row.Name, "put a backup back (castellan backups list), or file the sources again with mempalace mine",
				"none of its %d drawers has a vector left, in the index, the queue, or a copy", len(g.places))
			w.lost += len(g.places)
			w.notes = append(w.notes, c.Row.Name+": no vector is left of any drawer")
			continue
		}
		if codes[c.Row.Name] == maybeRows && len(g.mends) == 0 && !x.all {
			continue
		}
		if x.mode == IndexMetadata && g.borrowed == 0 {
			w.lost += g.by[nowhere]
			w.notes = append(w.notes, fmt.Sprintf("whose the vectors in %s are cannot be told: no copy of its names is left", g.live))
			continue
		}
		if v := c.Coverage; !x.all && codes[c.Row.Name] == onlyMissing && v != nil && int64(g.have()) <= v.Searchable && len(g.mends) == 0 {
			w.lost += g.by[nowhere] // another index would hold the same
			continue
		}
		x.list = append(x.list, g)
		x.describe(&w, pt, g)
	}
	if w.none = len(x.list) == 0; w.none && none != nil && x.all {
		return w, none
	}
	return w, nil
}

func (x *reindex) describe(w *work, pt *patient, g *gathered) {
	name, dir := g.row.Name, g.live
	from := []string{}
	for _, part := range []struct {
		src   source
		words string
	}{{inIndex, "from the index"}, {inTorn, "from the index, by their direction only"}, {inQueue, "from the queue"}, {inCopy, "from copies that were put aside"}} {
		if n := g.by[part.src]; n > 0 {
			from = append(from, humanize.Comma(int64(n))+" "+part.words)
		}
	}
	if g.borrowed > 0 {
		w.steps = append(w.steps, fmt.Sprintf("%s: take %s of the index from what is left of them and from copies", name, count(int64(g.borrowed), "name", "names")))
	}
	if n := len(g.mends); n > 0 {
		w.steps = append(w.steps, fmt.Sprintf("make %s of the queue readable for Chroma, %d of them emptied", count(int64(n), "row", "rows"), g.setAside))
	}
	vectors := int64(g.have()) * int64(g.dimension) * 4
	if g.throughQueue() {
		w.steps = append(w.steps, fmt.Sprintf("%s: put the vectors of %s (%s) into the write queue, from which Chroma builds the index when it opens the palace, and put the old index away",
			name, count(int64(g.have()), "drawer", "drawers"), strings.Join(from, ", ")))
		w.bytes += 3 * vectors
	} else {
		w.steps = append(w.steps, fmt.Sprintf("%s: build an index of %s (%s) beside the old one, verify it, exchange the two",
			name, count(int64(g.have()), "vector", "vectors"), strings.Join(from, ", ")))
		w.bytes += vectors + int64(g.have())*400
		w.estimate += time.Duration(g.have()) * time.Duration(g.dimension) * 2 * time.Microsecond
	}
	w.estimate += 2 * time.Second
	w.touches = append(w.touches, pt.database(), dir)
	w.dirs = append(w.dirs, dir)
	if n := g.nameless; n > 0 {
		w.notes = append(w.notes, fmt.Sprintf("%s: whose %s of the old index are cannot be told; they stay in the copy", name, count(int64(n), "vector", "vectors")))
	}
	if n := g.by[nowhere]; n > 0 {
		w.notes = append(w.notes, fmt.Sprintf("%s of %s: the vectors of %s are nowhere; the texts stay, and a model has to make those vectors again", name, pt.r.path(), count(int64(n), "drawer", "drawers")))
	}
}

// What findings say of a collection.
const (
	onlyMissing = 1 << iota
	maybeRows   // a row of the queue, whosever it is
	otherwise
)

// sick are the collections whose index a finding wants built again.
func (pt *patient) sick(ctx context.Context, mode Mode) map[string]int {
	found := map[string]int{}
	report := pt.r.o.Examiner.Report(ctx, pt.r.o.Found, health.Full)
	for _, f := range report.Findings {
		if f.Remedy == nil || Mode(f.Remedy.Mode) != mode {
			continue
		}
		switch f.Code {
		case health.VectorsMissing:
			found[f.Subject] |= onlyMissing
		case health.QueueRowBad:
			for _, c := range pt.facts.Collections {
				if c.Row.Dimension != nil {
					found[c.Row.Name] |= maybeRows
				}
			}
		case health.QuarantineHoldsMore:
			for _, q := range pt.r.site.Layout.Quarantined {
				for _, c := range pt.facts.Collections {
					if q.Path == f.Subject && c.Index.Segment == q.Segment {
						found[c.Row.Name] |= otherwise
					}
				}
			}
		default:
			found[f.Subject] |= otherwise
		}
	}
	return found
}

func (x *reindex) perform(ctx context.Context, pt *patient, run *running) error {
	for _, g := range x.list {
		for _, m := range g.mends {
			what := "is made readable"
			if m.aside {
				what = "is emptied; the copy has what it says"
			}
			run.report.Log(action.LevelWarn, fmt.Sprintf("%s: row %d of the queue %s: %s", g.row.Name, m.seq, what, m.why))
		}
		var err error
		if g.throughQueue() {
			err = x.requeue(ctx, pt, g, run)
		} else {
			err = x.rebuild(ctx, pt, g, run)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// same fails when the palace is not what it was when the vectors were gathered.
func (g *gathered) same(m *chroma.Mending) error {
	top, _, err := m.Number("SELECT COALESCE(max(seq_id), 0) FROM embeddings_queue")
	if err != nil {
		return err
	}
	n, _, err := m.Number("SELECT count(*) FROM embeddings WHERE segment_id = ?", g.row.Segment(chroma.ScopeMetadata).ID)
	if err != nil {
		return err
	}
	if top != g.top || n != int64(len(g.places)) {
		return refuse(Changed, g.row.Name, "repair again", "somebody wrote to it while the vectors were gathered")
	}
	return nil
}

// settle makes rows readable and forgets what the index holds, so that whoever
// opens the palace now replays the whole queue: right for any index, and the one
// state in which Chroma purges nothing.
func (g *gathered) settle(m *chroma.Mending) error {
	if err := g.same(m); err != nil {
		return err
	}
	for _, bad := range g.mends {
		if _, err := m.Exec("UPDATE embeddings_queue SET "+bad.set+" WHERE seq_id = ?", append(bad.args, bad.seq)...); err != nil {
			return err
		}
	}
	_, err := m.Exec("DELETE FROM max_seq_id WHERE segment_id = ?", g.row.Segment(chroma.ScopeVector).ID)
	return err
}

// rebuild writes an index and puts it in the place of the old one.
func (x *reindex) rebuild(ctx context.Context, pt *patient, g *gathered, run *running) error {
	if err := run.phase("build the index of "+g.row.Name, true); err != nil {
		return err
	}
	segment := g.row.Segment(chroma.ScopeVector).ID
	fresh := filepath.Join(run.work, segment)
	// A directory that an earlier attempt left is of no use.
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := run.at("build"); err != nil {
		return err
	}
	if err := g.build(ctx, pt, fresh, run); err != nil {
		return err
	}
	if err := run.phase("verify the index of "+g.row.Name, true); err != nil {
		return err
	}
	v, err := hnswlib.Verify(ctx, fresh, hnswlib.VerifyOptions{Space: g.space, Dimension: g.dimension, Elements: g.have(),
		Ef: orElse(g.row.Config.HNSW.EFSearch, defaultSearch), MinRecall: minRecall(g.have())})
	if err != nil {
		return err
	}
	run.result.Recall = append(run.result.Recall, Recall{Collection: g.row.Name, Recall: v.Recall, Queries: v.Queries})
	if err := run.phase("exchange the index of "+g.row.Name, false); err != nil {
		return err
	}
	if err := run.at("settle"); err != nil {
		return err
	}
	if err := run.mend(ctx, pt, g.settle); err != nil {
		return err
	}
	if err := run.aloneStill(ctx); err != nil {
		return err
	}
	if err := run.at("exchange"); err != nil {
		return err
	}
	run.changed = true
	if err := swap(fresh, g.live, run.at); err != nil {
		return err
	}
	if err := run.at("position"); err != nil {
		return err
	}
	if g.position > 0 {
		err = run.mend(ctx, pt, func(m *chroma.Mending) error {
			if err := g.same(m); err != nil {
				return err
			}
			_, err := m.Exec("INSERT OR REPLACE INTO max_seq_id (segment_id, seq_id) VALUES (?, ?)", segment, g.position)
			return err
		})
	}
	run.result.note(g)
	return err
}

// minRecall is what an index must show. Vectors without any order come to much
// less than texts by no fault of the index, so it is no judge of quality, only
// of an index that does not work.
func minRecall(n int) float64 {
	if n < 10 {
		return 0
	}
	return 0.5
}

// requeue puts vectors back into the queue, and the old index away.
func (x *reindex) requeue(ctx context.Context, pt *patient, g *gathered, run *running) error {
	if err := run.phase("put the vectors of "+g.row.Name+" into the queue", false); err != nil {
		return err
	}
	if err := run.at("requeue"); err != nil {
		return err
	}
	err := run.mend(ctx, pt, func(m *chroma.Mending) error {
		if err := g.settle(m); err != nil {
			return err
		}
		return g.enqueue(ctx, pt, m)
	})
	if err != nil {
		return err
	}
	if err := run.aloneStill(ctx); err != nil {
		return err
	}
	if err := run.at("put away"); err != nil {
		return err
	}
	away := filepath.Join(run.work, filepath.Base(g.live))
	if err := os.RemoveAll(away); err != nil {
		return err
	}
	if err := os.Rename(g.live, away); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	run.result.note(g)
	return durable.SyncDir(pt.dir)
}

// enqueue appends the vectors that a replay of the queue would not end with.
// They are upserts that say nothing else, numbered above every position there
// is, and counted as applied: the drawers are stored.
func (g *gathered) enqueue(ctx context.Context, pt *patient, m *chroma.Mending) error {
	next, err := highest(ctx, m)
	if err != nil {
		return err
	}
	topic := g.row.Topic()
	right := map[string]bool{}
	for _, p := range g.places {
		right[p.id] = p.src == inQueue && g.replayed[p.id] == p.seq
	}
	added := false
	err = g.each(ctx, pt.p, func(id string, v []float32) error {
		if right[id] {
			return nil
		}
		next++
		added = true
		_, err := m.Exec("INSERT INTO embeddings_queue (seq_id, operation, topic, id, vector, encoding, metadata) VALUES (?, 2, ?, ?, ?, 'FLOAT32', '{}')",
			next, topic, id, blobOf(v))
		return err
	})
	if err != nil || !added {
		return err
	}
	_, err = m.Exec("INSERT OR REPLACE INTO max_seq_id (segment_id, seq_id) VALUES (?, ?)", g.row.Segment(chroma.ScopeMetadata).ID, next)
	return err
}
