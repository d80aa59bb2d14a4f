package health

import (
	"errors"
	"fmt"

	"castellan/palace/hnswlib"
)

// Shares of deleted elements from which they are worth a word. Chroma never
// reuses their slots; searches walk through them and may find too few.
const (
	tombstonesTold   = 0.2
	tombstonesHeavy  = 0.5
	tombstonesFatal  = 0.75 // measured: searches come back short
	tombstonesAtAll  = 100
	capacityMinimum  = 100
	dangerousLinks   = "Chroma reads it without checking and its process dies"
	dangerousHeader  = "Chroma trusts it: at best it refuses the collection, at worst its process dies"
	dangerousRefused = "every operation on the collection is refused"
)

// graph judges the four binary files.
func (j *judge) graph() {
	if j.x.GraphErr != nil {
		j.unopened(j.x.GraphErr)
	}
	g := j.x.Graph
	if g == nil {
		return
	}
	if j.x.Pickle == nil && j.x.PickleErr == nil && g.Header.Elements == 0 {
		// Before the first flush the files hold room for 100 elements and
		// nothing else; there is nothing to judge.
		return
	}
	for _, f := range g.Faults {
		j.fault(f)
	}
	j.proportions(g)
}

func (j *judge) unopened(err error) {
	var gone *hnswlib.MissingError
	var short *hnswlib.ShortError
	j.worse(IndexDangerous)
	evidence := map[string]any{"said": err.Error(), "missing": j.missing()}
	switch {
	case errors.As(err, &gone):
		j.add(IndexHeaderBad, Danger, gone.File+" is missing: Chroma cannot load the index, "+dangerousRefused, evidence, rebuildIndex)
	case errors.As(err, &short) && short.File == hnswlib.HeaderFile:
		j.add(IndexHeaderBad, Danger, fmt.Sprintf("header.bin has %d bytes instead of %d; %s", short.Got, short.Want, dangerousHeader), evidence, rebuildIndex)
	default:
		j.add(IndexHeaderBad, Danger, "the index cannot be read: "+err.Error()+"; "+dangerousHeader, evidence, rebuildIndex)
	}
}

func (j *judge) fault(f hnswlib.Fault) {
	evidence := map[string]any{"file": f.File, "offset": f.Offset, "count": f.Count, "got": f.Got, "want": f.Want}
	if f.Field != "" {
		evidence["field"] = f.Field
	}
	code, severity, cause := IndexTorn, Bad, f.String()
	switch f.Kind {
	case hnswlib.FaultHeader:
		if f.Field == "dimension" {
			code, severity = DimensionMismatch, Bad
			cause = fmt.Sprintf("the index holds vectors of %s dimensions, the collection expects %s", f.Got, f.Want)
			break
		}
		code, severity, cause = IndexHeaderBad, Danger, "the index header contradicts itself: "+f.String()+"; "+dangerousHeader
	case hnswlib.FaultCapacity:
		code, severity, cause = IndexCapacityBad, Danger, "the index claims less room than it has elements ("+f.Got+"): Chroma would write beyond its memory"
	case hnswlib.FaultMissing, hnswlib.FaultNotRegular:
		code, severity, cause = IndexShort, Danger, f.File+" is not there; "+dangerousLinks
	case hnswlib.FaultShort:
		code, severity = IndexShort, Danger
		if f.File == hnswlib.LinksFile {
			cause = fmt.Sprintf("link_lists.bin is too short for its elements (%s, at least %s): %s", f.Got, f.Want, dangerousLinks)
		} else {
			cause = fmt.Sprintf("%s ends before the elements the header counts (%s of %s)", f.File, f.Got, f.Want)
		}
	case hnswlib.FaultZeroed:
		code, cause = IndexZeroed, fmt.Sprintf("%s of %s were never written, only zeros are there", count(int64(f.Count), "element"), f.File)
	case hnswlib.FaultBloated:
		code, severity, cause = IndexBloated, Warning, fmt.Sprintf("link_lists.bin is out of all proportion: %s; a copy or a backup may fill the disk", f.Got)
	case hnswlib.FaultLinks:
		if l := j.x.Graph.Links; l.TrailingBytes > 0 && l.BadRecords == 0 && f.Offset == l.Bytes {
			// Behind the last record nobody reads; it is bulk, not damage.
			code, severity = IndexBloated, Warning
			cause = fmt.Sprintf("%s lie behind the last record of link_lists.bin and mean nothing", size(l.TrailingBytes))
			break
		}
		code, severity, cause = IndexLinksBad, Danger, "the links between the vectors are damaged ("+f.String()+"): "+dangerousLinks
	case hnswlib.FaultNeighbours:
		code, severity, cause = IndexLinksBad, Danger, fmt.Sprintf("%s point to neighbours that do not exist: %s", count(int64(f.Count), "vector"), dangerousLinks)
	case hnswlib.FaultLabels:
		code, cause = IndexTorn, fmt.Sprintf("%s carry a label twice or none at all", count(int64(f.Count), "element"))
	}
	if severity == Danger {
		j.worse(IndexDangerous)
	} else if severity == Bad {
		j.worse(IndexDamaged)
	}
	j.add(code, severity, cause, evidence, rebuildIndex)
}

// proportions tells what is no damage but wears an index out.
func (j *judge) proportions(g *hnswlib.Facts) {
	elements, deleted := int64(g.Header.Elements), j.deleted()
	if elements >= tombstonesAtAll && deleted != nil {
		share := float64(*deleted) / float64(elements)
		severity := Info
		switch {
		case share >= tombstonesFatal:
			severity = Bad
		case share >= tombstonesHeavy:
			severity = Warning
		}
		if share >= tombstonesTold {
			j.add(TombstonesMany, severity,
				fmt.Sprintf("%.0f%% of the index are tombstones (%s deleted, %s live); searches walk through them and may return too few", 100*share, count(*deleted, "vector"), count(elements-*deleted, "vector")),
				map[string]any{"elements": elements, "deleted": *deleted, "live": elements - *deleted}, rebuildIndex)
		}
	}
	if elements >= capacityMinimum && g.Header.Capacity == uint64(elements) && j.missing() > 0 {
		live := j.c.Coverage.Live
		j.add(CapacityFrozen, Bad,
			fmt.Sprintf("the index stopped growing at its capacity of %s; %.0f%% of the drawers cannot be found by meaning", count(int64(g.Header.Capacity), "vector"), 100*float64(j.missing())/float64(live)),
			map[string]any{"capacity": g.Header.Capacity, "elements": elements, "live": live, "missing": j.missing()}, rebuildIndex)
	}
}

// deleted is the exact number of tombstones where the labels were read, else
// what the sample says of the whole; nil where neither is known.
func (j *judge) deleted() *int64 {
	if l := j.x.Labels; l != nil {
		return &l.Deleted
	}
	if g := j.x.Graph; g != nil && !g.Sampled {
		return ptr(int64(g.Deleted))
	}
	return nil
}
