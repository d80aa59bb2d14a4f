package palace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"castellan/palace/backend"
)

// Source says how a palace came to be known.
type Source string

// The sources, strongest first.
const (
	SourceFlag    Source = "flag"
	SourceEnv     Source = "env"
	SourceConfig  Source = "config"
	SourceDefault Source = "default"
	SourceFound   Source = "found"
)

// Discovery is every palace that is known, and how.
type Discovery struct {
	// Palaces holds the default palace first, whether it exists or not, then
	// the others in the order of their sources.
	Palaces []Found
	Config  Config
	// Notes concern the configuration and the surroundings rather than one
	// palace.
	Notes []Note
}

// Default is the palace that commands work on when none is named.
func (d *Discovery) Default() *Found { return &d.Palaces[0] }

// Found is one palace by its identity.
type Found struct {
	// Ref has no Kind yet, except for servers: looking at the files is
	// Examine's business.
	Ref backend.Ref
	// Aliases are the other spellings by which this palace is known, Ref.Path
	// and Ref.Real left out.
	Aliases []string
	Source  Source
	// Detail tells people where exactly it was named, such as
	// "MEMPALACE_PALACE_PATH"; also every further place.
	Detail []string
	// Default marks the palace that commands work on when none is named.
	Default bool
	Notes   []Note
}

// LockPaths are the spellings under which locks of this palace may be keyed.
func (f *Found) LockPaths() []string { return LockPaths(f.Ref, f.Aliases) }

// Discover finds palaces, without opening any. flag is the path given on the
// command line, empty for none. The error is the context's; anything that
// cannot be looked at is a note.
func (m *Manager) Discover(ctx context.Context, flag string) (Discovery, error) {
	d := discoverer{surroundings: m.around, looks: &m.looks}
	d.config = d.loadConfig()
	d.notes = slices.Clone(d.config.Notes)
	for _, c := range d.named(flag) {
		d.add(ctx, c)
	}
	for _, c := range d.servers() {
		d.add(ctx, c)
	}
	d.addSiblings(ctx)
	if err := ctx.Err(); err != nil {
		return Discovery{}, fmt.Errorf("looking for palaces: %w", err)
	}
	d.addTildes(ctx)
	d.shareSidecars()
	d.warnOfServer()
	d.palaces[0].Default = true
	return Discovery{Palaces: d.palaces, Config: d.config, Notes: d.notes}, nil
}

// candidate is a path and who named it.
type candidate struct {
	path   string
	source Source
	detail string
	// optional ones are listed only if they exist: nobody asked for them.
	optional bool
	server   bool
	sibling  bool
}

type discoverer struct {
	surroundings
	looks   *looks
	config  Config
	server  string // URL; empty in the embedded mode
	palaces []Found
	notes   []Note
}

// named are the places where somebody, or MemPalace's own defaults, name a
// palace, strongest first. The first is the palace that MemPalace would use.
func (d *discoverer) named(flag string) []candidate {
	var list []candidate
	add := func(path string, source Source, detail string) {
		// Only the first is shown when it is missing.
		list = append(list, candidate{path: path, source: source, detail: detail, optional: len(list) > 0})
	}
	if flag != "" {
		add(d.absolute(flag), SourceFlag, "--palace")
	}
	if d.server = d.chromaServer(); d.server != "" {
		list = append(list, candidate{path: d.server, source: SourceEnv, detail: "MEMPALACE_CHROMA_MODE", server: true})
	}
	// MEMPALACE_PALACE is a short form that MemPalace 3.11 reads too.
	for _, name := range []string{"MEMPALACE_PALACE_PATH", "MEMPALACE_PALACE", "MEMPAL_PALACE_PATH"} {
		if v := d.env(name); v != "" {
			add(d.absolute(v), SourceEnv, name)
		}
	}
	if d.config.PalacePath != "" {
		add(d.config.PalacePath, SourceConfig, "palace_path in "+d.config.File)
	}
	if d.config.DefaultPalace != "" {
		add(d.config.DefaultPalace, SourceConfig, "default_palace in "+d.config.File)
	}
	for _, dir := range []string{d.config.Dir, d.legacyDir(), d.xdgDir()} {
		add(join(dir, "palace"), SourceDefault, "the default place")
	}
	for _, p := range d.config.Palaces {
		// Unlike places nobody filled yet, these were written down by a
		// person, who wants to know that one is gone.
		list = append(list, candidate{path: p.Path, source: SourceConfig, detail: strings.TrimSpace("palaces " + p.Name + " in " + d.config.File)})
	}
	return list
}

// seen is what a candidate's path leads to.
type seen struct {
	ref     backend.Ref
	aliases []string
	exists  bool
	palace  bool
	notes   []Note
}

// add joins a candidate with the palace that it is another spelling of, or
// lists it as a new one.
func (d *discoverer) add(ctx context.Context, c candidate) {
	if c.server {
		d.palaces = append(d.palaces, Found{
			Ref:    backend.Ref{Path: c.path, Kind: backend.ChromaHTTP},
			Source: c.source, Detail: []string{c.detail},
		})
		return
	}
	limit := lookLimit
	if c.source == SourceFound {
		limit = siblingLimit
	}
	s, err := observe(ctx, d.looks, c.path, limit, func(ctx context.Context) seen {
		ref := locate(c.path)
		return seen{
			ref: ref, aliases: bindAliases(ref.Real), exists: !ref.ID.IsZero(),
			palace: looksLikePalace(c.path), notes: placement(ctx, c.path),
		}
	})
	if err != nil {
		if ctx.Err() != nil {
			return
		}
		s = seen{ref: backend.Ref{Path: c.path, Kind: backend.Unknown}, exists: true}
		s.notes = []Note{{Kind: NoteIncomplete, Path: c.path, Text: err.Error(), Err: err}}
	}
	if known := d.known(s.ref); known != nil {
		if c.sibling {
			c.detail = "" // its neighbours do not add to why it is known
		}
		known.join(s, c.detail)
		return
	}
	if c.optional && !s.exists || c.source == SourceFound && !s.palace {
		return
	}
	f := Found{Ref: s.ref, Source: c.source, Detail: []string{c.detail}, Notes: s.notes}
	f.join(s, "")
	d.palaces = append(d.palaces, f)
}

// known finds a palace by identity; what does not exist has none and is
// compared by its spelling.
func (d *discoverer) known(ref backend.Ref) *Found {
	for i := range d.palaces {
		f := &d.palaces[i]
		if f.Ref.Path == ref.Path || !ref.ID.IsZero() && f.Ref.ID == ref.ID {
			return f
		}
	}
	return nil
}

func (f *Found) join(s seen, detail string) {
	for _, p := range append([]string{s.ref.Path, s.ref.Real}, s.aliases...) {
		if p != "" && p != f.Ref.Path && p != f.Ref.Real && !slices.Contains(f.Aliases, p) {
			f.Aliases = append(f.Aliases, p)
		}
	}
	if detail != "" && !slices.Contains(f.Detail, detail) {
		f.Detail = append(f.Detail, detail)
	}
}
