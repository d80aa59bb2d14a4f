package repair

import (
	"slices"
	"strings"

	"castellan/palace/health"
)

// Mode is a kind of repair.
type Mode string

// The modes. A mode never changes its meaning.
const (
	MaxSeqID      Mode = "max-seq-id"     // positions that no write ever had; a lost top of the queue
	SeqIDBlob     Mode = "seq-id-blob"    // numbers stored as bytes
	IndexMetadata Mode = "index-metadata" // names of the vectors in an index
	Index         Mode = "index"          // the vector index, from the vectors that are stored
	FTS           Mode = "fts"            // the full-text index, from the documents
	Orphans       Mode = "orphans"        // what belongs to no collection and no drawer
	Vacuum        Mode = "vacuum"         // free pages
	Reembed       Mode = "reembed"        // vectors that exist nowhere
	FromSQLite    Mode = "from-sqlite"    // a new palace beside the old one
)

// Modes are all of them, in the order in which they are safe: positions decide
// which rows of the queue count, so they come before the index that is built
// from those rows.
func Modes() []Mode {
	return []Mode{MaxSeqID, SeqIDBlob, IndexMetadata, Index, FTS, Orphans, Vacuum, Reembed, FromSQLite}
}

// tidying modes free space and put nothing right: they are named, and done only
// when somebody asks for them.
func (m Mode) tidying() bool { return m == Orphans || m == Vacuum }

// alone modes are the only one of their run.
func (m Mode) alone() bool { return m == FromSQLite || m == Reembed }

func known(m Mode) bool { return slices.Contains(Modes(), m) }

// Called sorts the modes that findings name: those to do, and those that are
// there for whoever wants them.
func Called(findings []health.Finding) (do, offer []Mode) {
	because := map[Mode]health.Severity{}
	for _, f := range findings {
		if f.Remedy == nil || !known(Mode(f.Remedy.Mode)) {
			continue
		}
		m := Mode(f.Remedy.Mode)
		if had, ok := because[m]; !ok || f.Severity.Worse(had) {
			because[m] = f.Severity
		}
	}
	for _, m := range Modes() {
		severity, ok := because[m]
		switch {
		case !ok:
		case m.tidying(), m.alone(), severity == health.Info:
			offer = append(offer, m)
		default:
			do = append(do, m)
		}
	}
	if len(do) == 0 && slices.Contains(offer, FromSQLite) {
		return []Mode{FromSQLite}, nil
	}
	return do, offer
}

func joined(list []Mode) string {
	words := make([]string, len(list))
	for i, m := range list {
		words[i] = string(m)
	}
	return strings.Join(words, ", ")
}

// splitModes reads what joined wrote.
func splitModes(s string) []Mode {
	var list []Mode
	for _, word := range strings.Split(s, ",") {
		if word = strings.TrimSpace(word); word != "" {
			list = append(list, Mode(word))
		}
	}
	return list
}
