package health

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"castellan/palace/chroma"
	"castellan/palace/chroma/pickle"
	"castellan/palace/hnswlib"
)

// rebuildIndex is the remedy for an index whose vectors can be gathered again.
var rebuildIndex = &Remedy{
	Mode:   "index",
	Reason: "the index can be built again from vectors that are still on disk, without a model; keep the palace as it is until then",
}

// indexFindings judges the vector index of one collection. What it must never
// do is call a healthy shape sick: an index that was never flushed, a pickle
// without dimensionality, a data file shorter than its capacity, an old mtime.
//
// A file that changed a moment ago, while somebody has the palace open, may be
// seen half written: busy says that somebody has.
func indexFindings(c chroma.CollectionFacts, busy bool, now time.Time) (IndexState, []Finding) {
	x := c.Index
	j := judge{c: c, x: x, state: IndexOK, busy: busy && now.Sub(x.Files.Pickle.ModTime) < writeTakes}
	switch {
	case x.Segment == "":
		j.state = IndexNone
	case x.FilesErr != nil || absent(x.Files):
		j.directoryMissing()
	default:
		j.pickle()
		j.graph()
	}
	j.position()
	j.coverage()
	return j.state, j.out
}

// writeTakes is how long the metadata of a large index may take to be written.
const writeTakes = 10 * time.Second

type judge struct {
	busy  bool
	c     chroma.CollectionFacts
	x     chroma.IndexFacts
	state IndexState
	out   []Finding
}

// worse raises the state; a milder one never hides a worse one.
func (j *judge) worse(s IndexState) {
	order := map[IndexState]int{IndexNone: 0, IndexUnflushed: 1, IndexOK: 2, IndexDamaged: 3, IndexLost: 4, IndexDangerous: 5}
	if order[s] > order[j.state] {
		j.state = s
	}
}

func (j *judge) add(code Code, severity Severity, cause string, evidence map[string]any, remedy *Remedy) {
	if evidence == nil {
		evidence = map[string]any{}
	}
	evidence["segment"] = j.x.Segment
	j.out = append(j.out, Finding{Code: code, Severity: severity, Subject: j.c.Row.Name, Cause: cause, Evidence: evidence, Remedy: remedy})
}

func absent(f hnswlib.Files) bool {
	return !f.Header.Present && !f.Level0.Present && !f.Length.Present && !f.Links.Present && !f.Pickle.Present
}

// missing counts the live drawers whose vector is nowhere.
func (j *judge) missing() int64 {
	if j.c.Coverage == nil {
		return 0
	}
	return j.c.Coverage.Missing - j.c.Coverage.Unreachable
}

func (j *judge) directoryMissing() {
	var gone *hnswlib.MissingError
	if j.x.FilesErr != nil && !errors.As(j.x.FilesErr, &gone) {
		j.worse(IndexDamaged)
		j.add(IndexMissing, Bad, "the index directory cannot be read: "+j.x.FilesErr.Error(), map[string]any{"directory": j.x.Dir}, nil)
		return
	}
	j.state = IndexNone
	if j.missing() == 0 {
		return
	}
	j.state = IndexLost
	j.add(IndexMissing, Danger, "the index directory is gone, and the queue no longer holds the vectors that were in it",
		map[string]any{"directory": j.x.Dir, "missing": j.missing()},
		&Remedy{Action: "look for a quarantined copy or a backup", Mode: "index",
			Reason: "Chroma starts an empty index at the next write; quarantined copies or backups may still hold the vectors"})
}

// pickle judges index_metadata.pickle, without which Chroma takes the index
// for empty and writes over it.
func (j *judge) pickle() {
	x := j.x
	path := filepath.Join(x.Dir, hnswlib.PickleFile)
	elements := int64(0)
	if x.Graph != nil {
		elements = int64(x.Graph.Header.Elements)
	}
	switch {
	case x.PickleErr != nil:
		j.pickleBroken(path)
	case x.Pickle == nil && elements > 0, x.Pickle != nil && x.IDs == 0 && elements > 0 && x.Pickle.TotalElementsAdded == 0:
		if j.missing() == 0 {
			j.worse(IndexDamaged)
			j.add(IndexMetadataMissing, Warning, "the index holds vectors but its metadata is gone; all of them are in the queue too, so Chroma builds it again",
				map[string]any{"elements": elements}, rebuildIndex)
			return
		}
		j.worse(IndexDangerous)
		j.add(IndexMetadataMissing, Danger,
			fmt.Sprintf("the index files hold %s but the metadata that names them is gone: only what is in the queue can be found, and the next write overwrites the files", count(elements, "vector")),
			map[string]any{"elements": elements, "searchable": j.c.Coverage.Searchable, "missing": j.missing()},
			&Remedy{Mode: "index-metadata",
				Reason: "copy the directory before anything opens the palace; the names can be put back where the assignment is certain"})
	case x.Pickle == nil || x.IDs == 0:
		if j.missing() == 0 && x.GraphErr == nil {
			j.state = IndexUnflushed
			if j.c.Coverage != nil && j.c.Coverage.Queued > 0 {
				j.add(IndexIsUnflushed, Info,
					fmt.Sprintf("never flushed, and fine: all %s are in the write queue", count(j.c.Coverage.Queued, "vector")),
					map[string]any{"queued": j.c.Coverage.Queued, "sync_threshold": syncThreshold(j.c)}, nil)
			}
		}
	default:
		j.pickleOdd()
	}
}

func (j *judge) pickleBroken(path string) {
	evidence := map[string]any{"file": path, "bytes": j.x.Files.Pickle.Apparent, "missing": j.missing()}
	remedy := &Remedy{Mode: "index", Reason: "the vectors are still in the index files; copy them before anything opens the palace"}
	var cut *pickle.TruncatedError
	var unsafe *pickle.UnsafeError
	j.worse(IndexDamaged)
	switch {
	case j.busy && (errors.Is(j.x.PickleErr, pickle.ErrEmpty) || errors.As(j.x.PickleErr, &cut)):
		j.add(IndexMetadataTruncated, Warning, "the index metadata ends early, but it changed moments ago and somebody has the palace open: it is being written", evidence,
			&Remedy{Action: "look again in a moment", Reason: "Chroma writes the file in place"})
	case errors.Is(j.x.PickleErr, pickle.ErrEmpty):
		j.add(IndexMetadataTruncated, Danger, "the index metadata is empty (0 bytes): Chroma refuses every operation, even counting; the drawers are counted from the database", evidence, remedy)
	case errors.As(j.x.PickleErr, &cut):
		evidence["truncated_at"] = cut.Offset
		j.add(IndexMetadataTruncated, Danger, fmt.Sprintf("the index metadata is cut off at byte %d: Chroma refuses every operation on the collection", cut.Offset), evidence, remedy)
	case errors.As(j.x.PickleErr, &unsafe):
		j.worse(IndexDangerous)
		evidence["names"], evidence["offset"] = unsafe.Module+"."+unsafe.Name, unsafe.Offset
		j.add(IndexMetadataUnsafe, Danger, "the index metadata asks to run code when it is loaded; Castellan did not", evidence,
			&Remedy{Reason: "do not open this palace with Python; find out who wrote the file"})
	default:
		evidence["said"] = j.x.PickleErr.Error()
		j.add(IndexMetadataUnreadable, Danger, "the index metadata cannot be read: Chroma refuses every operation on the collection", evidence, remedy)
	}
}

// pickleOdd: a readable pickle that contradicts itself or the index.
func (j *judge) pickleOdd() {
	p := j.x.Pickle
	if !p.Consistent() || len(p.Missing) > 0 || p.TrailingBytes > 0 {
		j.worse(IndexDamaged)
		j.add(IndexMetadataUnreadable, Bad, "the index metadata contradicts itself: its two maps of ids and labels do not match",
			map[string]any{"mismatches": p.Mismatches, "duplicate_labels": p.DuplicateLabels, "repeated_ids": p.RepeatedIDs,
				"max_label": p.MaxLabel, "total_elements_added": p.TotalElementsAdded, "missing_fields": p.Missing, "trailing_bytes": p.TrailingBytes}, rebuildIndex)
	}
	l := j.x.Labels
	if l == nil || l.Unnamed == 0 && l.Absent == 0 {
		return
	}
	evidence := map[string]any{"unnamed": l.Unnamed, "absent": l.Absent, "elements": l.Elements}
	j.worse(IndexDamaged)
	if l.Unnamed > 0 {
		j.add(IndexTorn, Bad, fmt.Sprintf("%s in the index belong to no id: a search that comes upon one fails with \"Error finding id\"", count(l.Unnamed, "vector")), evidence, rebuildIndex)
		return
	}
	// A crash between the two files: Chroma then fails to replay the queue.
	j.add(IndexTorn, Bad, fmt.Sprintf("the metadata names %s that the index files no longer hold: the two were written at different times", count(l.Absent, "vector")), evidence, rebuildIndex)
}

// position: a vector position without a pickle is the most dangerous state
// there is. Loading counts it as 0, but the purge goes by it: one write and
// the only copy of the vectors is gone.
func (j *judge) position() {
	seg := j.c.Row.Segment(chroma.ScopeVector)
	if seg == nil || seg.MaxSeqID == nil || seg.MaxSeqID.Value <= 0 || j.x.Flushed() || j.x.PickleErr != nil {
		return
	}
	if j.c.Coverage == nil || j.c.Coverage.Live == 0 {
		return
	}
	if j.c.AtStake == 0 {
		j.worse(IndexLost)
		j.add(IndexIsLost, Bad, "the database says the index was flushed, but there is no index to load; what the queue holds lies behind that position and stays",
			map[string]any{"position": seg.MaxSeqID.Value, "queued": j.c.Coverage.Queued, "missing": j.missing(), "at_stake": int64(0)},
			&Remedy{Mode: "max-seq-id", Reason: "the position has to be removed, never raised, before the vectors are put back"})
		return
	}
	j.worse(IndexDangerous)
	j.add(IndexIsLost, Danger, "the database says the index was flushed, but there is no index to load: the next write deletes the queue's vectors, which are the only copy",
		map[string]any{"position": seg.MaxSeqID.Value, "queued": j.c.Coverage.Queued, "missing": j.missing(), "at_stake": j.c.AtStake},
		&Remedy{Mode: "max-seq-id", Reason: "the position has to be removed, never raised, before anything writes"})
}

func (j *judge) coverage() {
	v := j.c.Coverage
	if v == nil {
		return
	}
	if nowhere := v.Missing - v.Unreachable; nowhere > 0 {
		j.worse(IndexDamaged)
		j.add(VectorsMissing, Bad,
			fmt.Sprintf("%s of %s cannot be found by meaning: their vectors are neither in the index nor in the queue. The texts are all there", count(nowhere, "drawer"), count(v.Live, "drawer")),
			map[string]any{"live": v.Live, "indexed": v.Indexed, "queued": v.Queued, "searchable": v.Searchable, "missing": v.Missing, "unreachable": v.Unreachable,
				"sync_threshold": syncThreshold(j.c), "first_ids": v.MissingIDs}, rebuildIndex)
	}
	if v.Stale > 0 {
		j.add(VectorsStale, Bad,
			fmt.Sprintf("%s in the index belong to drawers that no longer exist; searches return them without text", count(v.Stale, "vector")),
			map[string]any{"stale": v.Stale, "live": v.Live, "first_ids": v.StaleIDs}, rebuildIndex)
		j.worse(IndexDamaged)
	}
}

func syncThreshold(c chroma.CollectionFacts) any {
	if n := c.Row.Config.HNSW.SyncThreshold; n != nil {
		return *n
	}
	return nil
}
