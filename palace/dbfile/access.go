package dbfile

// Access is the way a database is read, chosen from its state. See the package documentation.
type Access string

// The ways to read.
const (
	AccessRO        Access = "ro"        // rollback journal: SHARED lock while a view lasts
	AccessWAL       Access = "wal"       // write-ahead log with both sidecars: its readers' locks while a view lasts
	AccessImmutable Access = "immutable" // nothing to lock or recover: no locks, views check that nothing was written
	AccessCopy      Access = "copy"      // recovered private copy
	AccessSnapshot  Access = "snapshot"  // private copy by the backup API
)

// access chooses. What a -wal means depends on its size and not on the header: SQLite reads a log that is not empty
// even in a database whose header says rollback mode, and ignores an empty one.
func (f Facts) access() Access {
	wal := f.WALMode || f.WAL.Size > 0
	switch {
	case f.Hot, f.WALFrames > 0:
		return AccessCopy
	case f.JournalState == SpentJournal:
		// The main file is committed, but SQLite would refuse to read it before it has removed the journal.
		if f.SHM.Present && f.soundLog {
			return AccessCopy
		}
		return AccessImmutable
	case !wal:
		return AccessRO
	case f.deserted:
		return AccessImmutable
	case f.WAL.Present && f.SHM.Present && (f.WAL.Size == 0 || f.soundLog):
		// Also right if everybody who had it open has died: finding nobody, SQLite builds the index of the log in memory.
		// But of a log with a broken header it tries that a hundred times, ten seconds long, and gives up.
		return AccessWAL
	default:
		// No log, an empty one without its index, or one in which nothing is committed: the main file is everything.
		return AccessImmutable
	}
}

// check compares the file with what the handle was opened on. The answer is a [*StaleError] if they no longer fit.
func (d *DB) check() error {
	if d.file == nil {
		return nil // private files change by nobody's hand
	}
	stale := func(reason string, err error) error {
		return &StaleError{Path: d.path, Reason: reason, Err: err}
	}
	p, err := locate(d.path)
	if err != nil {
		return stale("it can no longer be found", err)
	}
	if p.id != d.facts.ID {
		return stale("another file has taken its place", nil)
	}
	if p.info.Size() == 0 {
		return stale("it is empty now", nil) // and SQLite would delete the -wal of an empty database, read-only or not
	}
	parts, err := beside(p.real)
	if err != nil {
		return err
	}
	switch d.access {
	case AccessRO:
		if sizeOf(parts.wal) > 0 {
			return stale("a -wal has appeared", nil)
		}
		var version [1]byte
		if _, err := d.file.raw.ReadAt(version[:], 19); err != nil {
			return classify(d.path, err)
		}
		if version[0] == 2 {
			return stale("it is in WAL mode now", nil)
		}
	case AccessWAL:
		if parts.wal == nil || parts.shm == nil {
			return stale("its -wal or -shm is gone", nil)
		}
		if d.file.deserted(p.real, parts) {
			return stale("its writer died before its log held anything", nil)
		}
	case AccessImmutable:
		now, err := stampOf(p, parts)
		if err != nil {
			return err
		}
		if now != d.facts.stamp || (parts.shm != nil) != d.facts.SHM.Present {
			return stale("it was written to", nil)
		}
	}
	return nil
}
