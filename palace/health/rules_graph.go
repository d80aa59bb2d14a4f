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
		evidence["refused"] = true
		j.add(IndexHeaderBad, Danger, gone.File+" is missing: Chroma cannot load the index, "+dangerousRefused, evidence, rebuildIndex)
	case errors.As(err, &short) && short.File == hnswlib.HeaderFile:
		j.add(IndexHeaderBad, Danger, fmt.Sprintf("header.bin has %d bytes instead of %d; %s", short.Got, short.Want, dangerousHeader), evidence, rebuildIndex)
	default:
		var field *hnswlib.HeaderError
		evidence["refused"] = errors.As(err, &field) && field.Field == "version"
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
	case hnswlib.FaultLevels:
		code, severity = IndexLinksBad, Danger
		cause = fmt.Sprintf("%s a neighbour on a level that it does not reach: Chroma reads beyond the end of its lists", names(f.Count, "element"))
	case hnswlib.FaultUnreached:
		j.unreachable(f, evidence)
		return
	case hnswlib.FaultNorms:
		code = IndexNormsBad
		if f.File == hnswlib.LengthFile {
			cause = fmt.Sprintf("length.bin says of %s that its length is no positive number: what is read back is not what was filed", count(int64(f.Count), "vector"))
			break
		}
		evidence["worst"] = j.x.Graph.Norms.Worst
		cause = fmt.Sprintf("%s no unit vectors in an index by cosine (off by up to %.2g): their distances, and the order of answers, are wrong",
			count(int64(f.Count), "vector")+" "+be(int64(f.Count)), j.x.Graph.Norms.Worst)
	case hnswlib.FaultBlank:
		code, severity = IndexNormsBad, Warning
		cause = fmt.Sprintf("%s nothing but zeros: every distance to one is 1, so searches find it by chance", holds(f.Count, "vector"))
	case hnswlib.FaultNotFinite:
		code, cause = IndexNormsBad, fmt.Sprintf("%s a number that is none (NaN or infinite), and so is every distance to it", holds(f.Count, "vector"))
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

func names(n int, noun string) string {
	if n == 1 {
		return count(1, noun) + " names"
	}
	return count(int64(n), noun) + " name"
}

func holds(n int, noun string) string {
	if n == 1 {
		return count(1, noun) + " holds"
	}
	return count(int64(n), noun) + " hold"
}

// strayShare is the share of elements that hnswlib loses by itself: it keeps the
// best few links of each element, and now and then nobody keeps the last one to
// somebody.
const strayShare = 0.001

// unreachable elements are stored, sound and found by nobody.
func (j *judge) unreachable(f hnswlib.Fault, evidence map[string]any) {
	if j.x.Scanned {
		return // Chroma compares with every vector of such an index
	}
	r := j.x.Graph.Reach
	evidence["reached"], evidence["unreachable"] = r.Reached, r.Unreachable
	if v := j.c.Coverage; v != nil {
		evidence["drawers"] = v.Unreachable
	}
	severity, why := Bad, "links were lost"
	if float64(r.Unreachable) <= strayShare*float64(r.Reached) && j.x.Graph.BadLists == 0 && j.x.Graph.Links.BadRecords == 0 {
		severity, why = Warning, "so few are lost in the making of a sound index too"
	}
	j.worse(IndexDamaged)
	j.add(IndexUnreachable, severity, fmt.Sprintf("%s in the index, but no path from its entry point leads there, so no search by meaning arrives (%s)",
		count(int64(f.Count), "vector")+" "+be(int64(f.Count)), why), evidence, rebuildIndex)
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
