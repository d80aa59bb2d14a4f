package views

import (
	"context"
	"time"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/change"
	"castellan/palace/health"
	"castellan/palace/queue"
	"castellan/palace/repair"
	"castellan/palace/search"
)

// Core is what the screens ask. Any answer may be slow, or never come when a
// disk is gone: every question is asked from a load of its own, never from
// Update.
type Core interface {
	// Discover lists the palaces there are, the default one first.
	Discover(ctx context.Context) (palace.Discovery, error)
	// Add makes a palace known that nobody else names. The error says why
	// there is none at that path.
	Add(ctx context.Context, path string) (palace.Found, error)
	// Report is never nil, and cheap while a palace does not change.
	Report(ctx context.Context, p palace.Found, depth health.Depth) *health.Report
	// Survey looks at all locks, and at who has these palaces open.
	Survey(ctx context.Context, palaces []palace.Found) (locks.Survey, error)

	Count(ctx context.Context, at Place, f backend.Filter) (int64, error)
	Page(ctx context.Context, at Place, q backend.Query) (backend.Page, error)
	Facets(ctx context.Context, at Place, f backend.Filter, keys ...string) ([]backend.Facet, error)
	// Search answers a question, and Measure tells how well each way to search
	// does; done hears of each part that is finished.
	Search(ctx context.Context, at Place, q search.Question) (search.Answer, error)
	Measure(ctx context.Context, at Place, done func(part string)) (search.Quality, error)
	// Writes are the latest n writes that the queue still has, newest first.
	Writes(ctx context.Context, at Place, n int) ([]Write, error)

	// Runner does what changes something; nil where nothing can be done.
	Runner() *action.Runner
	// Process tells whether there is such a process, and what it is.
	Process(pid int) (locks.Process, bool)
	// Closing asks whoever has a palace to let go of it.
	Closing(ctx context.Context, p palace.Found, how Closing) (action.Action, error)
	// Resuming puts back what Closing.PauseHooks replaced.
	Resuming(ctx context.Context) (action.Action, error)
	// Deleting removes rows so that Undoing can put them back; Draining makes the
	// writes that wait for a palace, and Waiting lists those.
	Deleting(ctx context.Context, p palace.Found, sel change.Selection) (action.Action, error)
	Undoing(ctx context.Context, p palace.Found) (action.Action, error)
	Draining(ctx context.Context, p palace.Found) (action.Action, error)
	Waiting(ctx context.Context, p palace.Found) ([]queue.Entry, error)
	// Repairing mends a palace, behind a copy that Undoing goes back to; Restoring
	// makes it what such a copy says. Backups lists the copies, the newest first,
	// and with verify reads them all.
	Repairing(ctx context.Context, p palace.Found, how Mending) (action.Action, error)
	Restoring(ctx context.Context, p palace.Found, backup string) (action.Action, error)
	Backups(ctx context.Context, p palace.Found, verify bool) ([]repair.Backup, error)
}

// Mending is how a palace is mended.
type Mending struct {
	// Mode is what is done; empty: what the findings call for, or what is left of
	// a repair that was cut short.
	Mode repair.Mode
	// BackupOnly takes the copy and mends nothing.
	BackupOnly bool
}

// Closing is how a palace is closed.
type Closing struct {
	// PauseHooks switches MemPalace's automatic saves off first.
	PauseHooks bool
	// Kill ends by force whoever does not let go.
	Kill bool
}

// Place is one collection of one palace.
type Place struct {
	Palace     palace.Found
	Collection string
}

// Write is one write as the queue has it; empty where the row does not say.
type Write struct {
	At   time.Time // zero: cannot be read
	Kind string    // add, update, upsert, delete
	ID   string
	Wing string
	Room string
	// Source is the file it came from, By who added it.
	Source, By string
}
