package repair

import (
	"errors"
	"fmt"

	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/chroma"
	"castellan/palace/dbfile"

	"github.com/dustin/go-humanize"
)

// The kinds of refusal; they never change their meaning.
const (
	LockHeld           = "lock-held"           // somebody holds the palace
	InUse              = "in-use"              // another process has it open
	WriteRouting       = "write-routing"       // MemPalace's configuration forbids direct writes
	UnsupportedBackend = "unsupported-backend" // not an embedded Chroma
	NoPalace           = "no-palace"           // nothing to repair at the path, or nothing that can be opened
	ReadOnly           = "read-only"           // this user cannot write there
	SchemaUnknown      = "schema-unknown"      // made by a Chroma that is newer than known
	DatabaseDamaged    = "database-damaged"    // what a repair starts from cannot be read
	DiskLow            = "disk-low"
	RowsMissing        = "rows-missing" // fewer rows could be read than there are
	NoVectors          = "no-vectors"   // no vector is left to build from
	Mismatch           = "mismatch"     // dimension or space cannot be relied on
	NeedsModel         = "needs-model"  // vectors have to be made again
	NothingToRepair    = "nothing-to-repair"
	Changed            = "changed"       // somebody wrote since the look
	BackupExists       = "backup-exists" // its name was taken meanwhile
	WrittenSince       = "written-since" // undoing would lose writes
	BackupUnusable     = "backup-unusable"
	NoChroma           = "no-chroma"    // the Python that was named has no chromadb
	NotVerified        = "not-verified" // what was done cannot be seen to be right
)

func refuse(kind, subject, next, reason string, args ...any) *action.RefusedError {
	return &action.RefusedError{Kind: kind, Subject: subject, Reason: fmt.Sprintf(reason, args...), Next: next}
}

// refusal makes one of errors that are a reason not to begin; nil for others.
func (r *Repair) refusal(err error) *action.RefusedError {
	var already *action.RefusedError
	var file *dbfile.FileError
	var schema *backend.SchemaError
	var damaged *backend.DamagedError
	var refused *chroma.RefusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &already):
		return already
	case errors.As(err, &file):
		return &action.RefusedError{Kind: NoPalace, Subject: file.Path, Reason: err.Error(), Next: "put a backup back: castellan backups restore", Err: err}
	case errors.As(err, &schema):
		return &action.RefusedError{Kind: SchemaUnknown, Subject: r.path(), Reason: schema.Detail, Next: "use the program that made it; castellan export reads it", Err: err}
	case errors.As(err, &refused) && refused.Reason == chroma.RefusedInUse:
		return &action.RefusedError{Kind: InUse, Subject: r.path(), Reason: refused.Detail, Next: "castellan close, then repair", Err: err}
	case errors.As(err, &refused):
		return &action.RefusedError{Kind: string(refused.Reason), Subject: r.path(), Reason: refused.Detail, Next: refused.Next(), Err: err}
	case errors.As(err, &damaged), errors.Is(err, dbfile.ErrCorrupt):
		return &action.RefusedError{Kind: DatabaseDamaged, Subject: r.path(), Reason: err.Error(), Next: "castellan export, or put a backup back: castellan backups restore", Err: err}
	}
	return nil
}

// count spells a number with its thing.
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(n) + " " + many
}
