package health

import (
	"fmt"

	"castellan/palace/chroma"
)

// queueFindings speaks of sequence numbers and of the write-ahead queue, which
// for most palaces holds the only copy of the newest vectors.
func queueFindings(path string, f *chroma.Facts) []Finding {
	var out []Finding
	for _, c := range f.Collections {
		for _, seg := range c.Row.Segments {
			out = append(out, positionFindings(f, c, seg)...)
		}
		if c.Unapplied > 0 {
			// Chroma applies them before it answers, unless a row stops it
			// (MemPalace #1295: 20,580 of them stuck).
			severity, found := Warning, "Chroma finds them, as it applies them first; what reads the tables alone does not"
			if f.Queue.FaultCount > 0 {
				severity, found = Bad, "whoever wrote them cannot find them"
			}
			out = append(out, Finding{
				Code: QueueUnapplied, Severity: severity, Subject: c.Row.Name,
				Cause: fmt.Sprintf("%s acknowledged but not applied: %s", count(c.Unapplied, "write")+" "+be(c.Unapplied), found),
				Evidence: map[string]any{
					"unapplied": c.Unapplied, "queue_top": f.Queue.Highest, "applied_up_to": seqOf(c, chroma.ScopeMetadata),
				},
				Remedy: &Remedy{Reason: "Chroma applies them when it next reads or writes the collection; a rebuild with mempalace repair before that drops them"},
			})
		}
	}
	if f.Queue.FaultCount > 0 {
		first := f.Queue.Faults[0]
		out = append(out, Finding{
			Code: QueueRowBad, Severity: Danger, Subject: path,
			Cause:    fmt.Sprintf("%s of the write queue cannot be read by Chroma (%s); every operation on the collection may fail", count(f.Queue.FaultCount, "row"), first.Kind),
			Evidence: map[string]any{"rows": f.Queue.FaultCount, "first_seq_id": first.SeqID, "faults": faultWords(f.Queue.Faults), "refused": refused(f.Queue.Faults)},
			Remedy:   &Remedy{Mode: "index", Reason: "the bad rows have to be set aside before Chroma can read the good ones"},
		})
	}
	if top := deref(f.Queue.Highest); f.HighestPosition > 0 && top < f.HighestPosition {
		out = append(out, Finding{
			Code: QueueTopLost, Severity: Danger, Subject: path,
			Cause:    "the newest row of the write queue is gone: the next writes get numbers that were used already, and Chroma throws them away unseen",
			Evidence: map[string]any{"queue_top": f.Queue.Highest, "highest_position": f.HighestPosition, "queue_rows": f.Queue.Rows},
			Remedy:   &Remedy{Mode: "max-seq-id", Reason: "the queue needs a top row again before anything writes"},
		})
	}
	if n := deref(f.BlobSeqIDs); n > 0 {
		out = append(out, Finding{
			Code: SeqIDBlob, Severity: Info, Subject: path,
			Cause:    fmt.Sprintf("%s written by Chroma 0.6 or older still carry their number as 8 bytes; nothing in Chroma 1.5 reads it", count(n, "drawer")),
			Evidence: map[string]any{"rows": n},
			Remedy:   &Remedy{Mode: "seq-id-blob", Reason: "MemPalace converts them when it opens the palace, which some versions did wrongly"},
		})
	}
	return out
}

func positionFindings(f *chroma.Facts, c chroma.CollectionFacts, seg chroma.Segment) []Finding {
	pos := seg.MaxSeqID
	if pos == nil {
		return nil
	}
	subject := c.Row.Name
	evidence := map[string]any{"segment": seg.ID, "scope": seg.Scope, "value": pos.Value, "stored_as": pos.Storage}
	if pos.Storage != "integer" {
		return []Finding{{
			Code: SeqIDBlob, Severity: Danger, Subject: subject,
			Cause:    fmt.Sprintf("the position of the %s segment is stored as %s: every operation of Chroma 1.x on this collection fails", seg.Scope, pos.Storage),
			Evidence: evidence,
			Remedy:   &Remedy{Mode: "seq-id-blob", Reason: "the number is known, only its form is wrong"},
		}}
	}
	// Below 2^53 only the vector segment's claim can be refuted: it is never
	// ahead of the metadata segment, which is itself ahead of the drawers once
	// the newest of them are deleted.
	if !pos.Poisoned() && (seg.Scope != chroma.ScopeVector || pos.Value <= max(f.HighestSeqID, f.HighestPosition)) {
		return nil
	}
	evidence["highest_real"] = f.HighestSeqID
	evidence["clean_value"] = deref(c.Applied)
	if real, ok := pos.Repaired(); ok {
		evidence["decoded"] = real
	}
	evidence["queued_rows"] = f.Queue.Rows
	what := "new drawers are acknowledged and never appear"
	if seg.Scope == chroma.ScopeVector {
		what = "new vectors never reach a search, and the queue that holds them is purged"
	}
	return []Finding{{
		Code: SeqIDPoisoned, Severity: Danger, Subject: subject,
		Cause:    fmt.Sprintf("the %s segment claims position %d, which no write ever had: %s", seg.Scope, pos.Value, what),
		Evidence: evidence,
		Remedy:   &Remedy{Mode: "max-seq-id", Reason: "the right value follows from the drawers and the queue; a rebuild before that drops the queue"},
	}}
}

func seqOf(c chroma.CollectionFacts, scope string) any {
	if s := c.Row.Segment(scope); s != nil && s.MaxSeqID != nil {
		return s.MaxSeqID.Value
	}
	return nil
}

func faultWords(list []chroma.QueueFault) []string {
	words := make([]string, len(list))
	for i, f := range list {
		words[i] = fmt.Sprintf("%d: %s", f.SeqID, f.Kind)
	}
	return words
}

// refused reports whether Chroma stops at one of the rows; the others it reads
// wrongly or not at all.
func refused(list []chroma.QueueFault) bool {
	for _, f := range list {
		if f.Kind != chroma.FaultLength && f.Kind != chroma.FaultTime {
			return true
		}
	}
	return false
}
