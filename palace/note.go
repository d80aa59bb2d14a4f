package palace

// Note is something worth saying about a path or the configuration that does
// not by itself keep a palace from being read.
type Note struct {
	Kind NoteKind
	// Path is what the note is about.
	Path string
	// Text is one plain sentence with the next step, if there is one.
	Text string
	// Related are other paths that the sentence speaks of.
	Related []string
	// Err is the typed error behind the note, nil where there is none.
	Err error
}

// NoteKind names what a note is about.
type NoteKind string

// The kinds of notes.
const (
	// NoteConfig: MemPalace's config.json, or a value in it, cannot be used.
	NoteConfig NoteKind = "config"
	// NoteUnsafe: a network file system or a synchronised folder.
	NoteUnsafe NoteKind = "unsafe-filesystem"
	// NoteReadOnly: nothing can be written there by this user.
	NoteReadOnly NoteKind = "read-only"
	// NoteLiteralTilde: a directory that is really called "~".
	NoteLiteralTilde NoteKind = "literal-tilde"
	// NoteTooShallow: the path holds palaces and is none itself.
	NoteTooShallow NoteKind = "too-shallow"
	// NoteTooDeep: the path is a part of a palace.
	NoteTooDeep NoteKind = "too-deep"
	// NoteNeverUsed: a database file of 0 bytes and nothing else.
	NoteNeverUsed NoteKind = "never-used"
	// NoteTwoBackends: databases of two engines in one directory.
	NoteTwoBackends NoteKind = "two-backends"
	// NoteBackup: the path is a copy that a repair or a migration left.
	NoteBackup NoteKind = "backup"
	// NoteServer: a Chroma server owns, or may own, this palace.
	NoteServer NoteKind = "server"
	// NoteSharedSidecar: several palaces share a file that lies beside them.
	NoteSharedSidecar NoteKind = "shared-sidecar"
	// NoteIncomplete: a look was cut short, so figures are lower bounds.
	NoteIncomplete NoteKind = "incomplete"
	// NoteUnreadablePart: something inside the palace could not be looked at.
	NoteUnreadablePart NoteKind = "unreadable-part"
)
