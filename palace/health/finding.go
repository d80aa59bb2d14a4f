package health

// Severity orders findings.
type Severity string

// The severities, mildest first.
const (
	Info    Severity = "info"    // worth knowing
	Warning Severity = "warning" // it works, look at it
	Bad     Severity = "error"   // answers are wrong or incomplete, or writes are not applied
	Danger  Severity = "danger"  // opening it with Chroma or MemPalace may crash or lose data
)

// Verdict is the worst of the findings, in one word.
type Verdict string

// The verdicts, best first.
const (
	VerdictOK      Verdict = "ok"
	VerdictWarning Verdict = "warning"
	VerdictError   Verdict = "error"
	VerdictDanger  Verdict = "danger"
)

// rank orders severities; unknown ones rank lowest.
func (s Severity) rank() int {
	switch s {
	case Warning:
		return 1
	case Bad:
		return 2
	case Danger:
		return 3
	}
	return 0
}

// Worse reports whether s is more severe than other.
func (s Severity) Worse(other Severity) bool { return s.rank() > other.rank() }

// VerdictOf is the verdict that the findings add up to.
func VerdictOf(findings []Finding) Verdict {
	worst := 0
	for _, f := range findings {
		worst = max(worst, f.Severity.rank())
	}
	return [...]Verdict{VerdictOK, VerdictWarning, VerdictError, VerdictDanger}[worst]
}

// Finding is one thing that is true of a palace and worth saying.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	// Subject is what it is about: a collection, a file, a process.
	Subject string `json:"subject"`
	// Cause is one plain sentence.
	Cause string `json:"cause"`
	// Evidence are the figures the finding rests on.
	Evidence map[string]any `json:"evidence"`
	// Remedy is nil where nothing needs doing.
	Remedy *Remedy `json:"remedy"`
}

// Remedy says what a person can do, or why nothing can be done.
type Remedy struct {
	// Action is a command or a plain instruction for today; empty when there
	// is none.
	Action string `json:"action"`
	// Mode names the kind of repair that helps, if one does.
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
}

// Code names a kind of finding. A code never changes its meaning.
type Code string

// Locks, holders and files that moved under somebody.
const (
	LockHeld               Code = "lock-held"
	LockLastHolderDead     Code = "lock-last-holder-dead"
	HolderIdle             Code = "holder-idle"
	HolderStuck            Code = "holder-stuck"
	HolderOrphan           Code = "holder-orphan"
	SeveralWriters         Code = "several-writers"
	DatabaseMovedWhileOpen Code = "database-moved-while-open"
	PalaceMovedWhileOpen   Code = "palace-moved-while-open"
	LockKeyDiffers         Code = "lock-key-differs"
	ServerOwnsDirectory    Code = "server-owns-directory"
)

// The database file and where it lies.
const (
	NotADatabase     Code = "not-a-database"
	DatabaseEmpty    Code = "database-empty"
	BtreeDamaged     Code = "btree-damaged"
	FTSDamaged       Code = "fts-damaged"
	FTSDisagrees     Code = "fts-disagrees"
	FTSUnchecked     Code = "fts-unchecked"
	FTSMissing       Code = "fts-missing"
	HotJournal       Code = "hot-journal"
	WALUnread        Code = "wal-unread"
	ReadOnly         Code = "read-only"
	PermissionDenied Code = "permission-denied"
	UnsafeFilesystem Code = "unsafe-filesystem"
	SchemaUnknown    Code = "schema-unknown"
)

// Configuration and identity of the vectors.
const (
	ConfigTypeMissing  Code = "config-type-missing"
	ConfigUnreadable   Code = "config-unreadable"
	DimensionMismatch  Code = "dimension-mismatch"
	DimensionUnset     Code = "dimension-unset"
	EmbedderMismatch   Code = "embedder-mismatch"
	EmbedderUnrecorded Code = "embedder-unrecorded"
	MetadataMissing    Code = "metadata-missing"
	SpaceForgotten     Code = "space-forgotten"
	SegmentsWrong      Code = "segments-wrong"
)

// Sequence numbers and the write-ahead queue.
const (
	SeqIDPoisoned  Code = "seq-id-poisoned"
	SeqIDBlob      Code = "seq-id-blob"
	QueueUnapplied Code = "queue-unapplied"
	QueueTopLost   Code = "queue-top-lost"
	QueueRowBad    Code = "queue-row-bad"
)

// The vector index.
const (
	IndexIsUnflushed        Code = "index-unflushed"
	IndexMissing            Code = "index-missing"
	IndexIsLost             Code = "index-lost"
	IndexHeaderBad          Code = "index-header-bad"
	IndexCapacityBad        Code = "index-capacity-bad"
	IndexShort              Code = "index-short"
	IndexTorn               Code = "index-torn"
	IndexBloated            Code = "index-bloated"
	IndexZeroed             Code = "index-zeroed"
	IndexLinksBad           Code = "index-links-bad"
	IndexUnreachable        Code = "index-unreachable"
	IndexNormsBad           Code = "index-norms-bad"
	IndexMetadataMissing    Code = "index-metadata-missing"
	IndexMetadataTruncated  Code = "index-metadata-truncated"
	IndexMetadataUnreadable Code = "index-metadata-unreadable"
	IndexMetadataUnsafe     Code = "index-metadata-unsafe"
	VectorsMissing          Code = "vectors-missing"
	VectorsStale            Code = "vectors-stale"
	TombstonesMany          Code = "tombstones-many"
	CapacityFrozen          Code = "capacity-frozen"
)

// What lies around a palace, and the disk.
const (
	SegmentOrphan        Code = "segment-orphan"
	CollectionUnexpected Code = "collection-unexpected"
	QuarantinePiledUp    Code = "quarantine-piled-up"
	QuarantineHoldsMore  Code = "quarantine-holds-more"
	RebuildUnfinished    Code = "rebuild-unfinished"
	BackupPresent        Code = "backup-present"
	FreePages            Code = "free-pages"
	DiskLow              Code = "disk-low"
)
