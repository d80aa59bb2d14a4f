package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/change"
	"castellan/palace/dbfile"
	"castellan/palace/embed"
	"castellan/palace/health"
	"castellan/palace/queue"
	"castellan/palace/search"
)

// The exit codes, which scripts may rely on.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNoPalace    = 3
	exitHeld        = 4
	exitUnknown     = 5
	exitFindings    = 6
	exitInterrupted = 130
)

// UsageError says that the command line itself is wrong.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error {
	return &UsageError{Err: fmt.Errorf(format, args...)}
}

// ReportError carries the error of a report whose document has been printed
// already: only the exit code and, for people, the words are still due.
type ReportError struct{ Report *health.Report }

func (e *ReportError) Error() string {
	if e.Report.Error != nil {
		return e.Report.Error.Message
	}
	return fmt.Sprintf("%s is %s", e.Report.Palace.Path, e.Report.Palace.State)
}

// ReadError says which palace it was that could not be read.
type ReadError struct {
	Palace string
	Err    error
}

func (e *ReadError) Error() string { return e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// OutputError says that an answer could not be written.
type OutputError struct{ Err error }

func (e *OutputError) Error() string {
	return fmt.Sprintf("the answer could not be written: %v", e.Err)
}

func (e *OutputError) Unwrap() error { return e.Err }

// errFindings ends a doctor that found an error or worse; it has said so
// already.
var errFindings = errors.New("the doctor found an error or worse")

// failure is an error as it is told: to a program by kind and code, to a
// person by message and next step.
type failure struct {
	code                         int
	kind, message, subject, next string
	// silent failures have been told already.
	silent bool
}

func (f failure) document() *health.Error {
	return &health.Error{Kind: f.kind, Message: f.message, Subject: f.subject, Next: f.next}
}

// describe sorts an error into the kinds that the error document promises.
func describe(ctx context.Context, err error) failure {
	f := failure{code: exitFailed, kind: "failed", message: err.Error()}
	var (
		report     *ReportError
		output     *OutputError
		filter     *backend.UnsupportedFilterError
		usage      *UsageError
		collection *backend.CollectionNotFoundError
		read       *ReadError
		told       *toldError
		refused    *action.RefusedError
		held       *locks.HeldError
		cut        *InterruptedError
		engine     *search.EngineError
		noModel    *embed.MissingError
		badModel   *embed.ModelError
		wrongSum   *embed.SumError
		download   *embed.DownloadError
		noDrawer   *search.NotFoundError
	)
	switch {
	case errors.As(err, &told):
		f.code, f.kind, f.silent = told.code, told.kind, true
	case errors.As(err, &cut):
		f.code, f.kind, f.next = exitInterrupted, "interrupted", "castellan undo puts back what was deleted"
	case ctx.Err() != nil:
		f.code, f.kind, f.message = exitInterrupted, "interrupted", "interrupted; nothing has been changed"
	case errors.Is(err, errFindings):
		f.code, f.kind, f.silent = exitFindings, "findings", true
	case errors.Is(err, errDeclined):
		f.kind = "declined"
	case errors.As(err, &refused):
		f.code, f.kind, f.message = refusedCode(refused.Kind), refused.Kind, refused.Reason
		if f.subject, f.next = refused.Subject, refused.Next; f.subject != "" {
			f.message = f.subject + ": " + f.message
		}
	case errors.As(err, &held):
		f.code, f.kind, f.message, f.subject = exitHeld, change.LockHeld, held.Error(), held.Palace
		f.next = "castellan close asks the holder to let go; --wait waits for it"
	case errors.Is(err, queue.ErrDraining):
		f.code, f.kind = exitHeld, "draining"
	case errors.As(err, &report):
		return describeReport(report)
	case errors.As(err, &output):
		f.kind = "output"
	case errors.As(err, &filter):
		f.code, f.kind, f.subject = exitUsage, "filter", filter.Subject
		f.next = `a filter looks like {"wing": "notes"} or {"chunk_index": {"$gte": 3}}`
	case errors.As(err, &engine):
		f.code, f.kind, f.subject = exitUsage, "usage", engine.Name
	case errors.As(err, &noDrawer):
		f.kind, f.subject, f.next = "drawer-not-found", noDrawer.ID, "castellan drawers lists what there is"
	case errors.As(err, &noModel):
		f.kind, f.next = "model-missing", "castellan model fetch downloads it"
	case errors.As(err, &badModel):
		f.kind, f.subject, f.next = "model-damaged", badModel.Path, "castellan model fetch gets a good one"
	case errors.As(err, &wrongSum):
		f.kind, f.subject = "wrong-sum", wrongSum.From
	case errors.As(err, &download):
		f.kind, f.subject, f.next = "download", download.From, "an archive got by other means is taken by: castellan model fetch --from FILE"
	case errors.Is(err, embed.ErrFetching):
		f.code, f.kind = exitHeld, "fetching"
	case errors.As(err, &usage):
		f.code, f.kind, f.next = exitUsage, "usage", "castellan --help lists the commands, castellan COMMAND --help their flags"
	case errors.As(err, &collection):
		f.kind, f.subject, f.next = "collection-not-found", collection.Name, "castellan status lists the collections of a palace"
	case errors.As(err, &read):
		describeRead(&f, read)
	}
	return f
}

// describeRead tells the ways in which a palace cannot be read apart.
func describeRead(f *failure, err *ReadError) {
	f.code, f.kind, f.subject = exitNoPalace, "unreadable", err.Palace
	var (
		gone    *palace.NotFoundError
		empty   *palace.EmptyError
		damaged *backend.DamagedError
		schema  *backend.SchemaError
		engine  *backend.UnsupportedBackendError
	)
	switch {
	case errors.As(err, &gone):
		f.kind, f.next = "missing", "castellan palaces lists the palaces it knows"
	case errors.As(err, &empty):
		f.kind = "empty"
	case errors.Is(err, fs.ErrPermission):
		f.kind = "permission-denied"
	case errors.Is(err, dbfile.ErrBusy):
		f.code, f.kind = exitHeld, "busy"
	case errors.As(err, &damaged):
		f.kind, f.subject = "damaged", damaged.Path
	case errors.As(err, &schema):
		f.kind, f.subject, f.next = "schema-unknown", schema.Path, "castellan doctor says what it found"
	case errors.As(err, &engine):
		f.kind, f.next = "unsupported-backend", "use the tools of that engine"
	}
	// The palace's own errors end in what can be done.
	if i := strings.LastIndex(f.message, "; "); f.next == "" && i >= 0 {
		f.next = f.message[i+2:]
	}
}

// describeReport tells a report that could not be made whole. Its JSON
// document has been printed, so only people still need the words.
func describeReport(e *ReportError) failure {
	f := failure{code: exitNoPalace, kind: string(e.Report.Palace.State), message: e.Error(), subject: e.Report.Palace.Path}
	if told := e.Report.Error; told != nil {
		f.kind, f.subject, f.next = told.Kind, told.Subject, told.Next
	}
	f.silent = true
	return f
}

// complain tells a person, on standard error.
func (a *app) complain(f failure) {
	a.say("castellan: %s", f.message)
	if f.next != "" && !strings.Contains(f.message, f.next) {
		a.say("  %s", f.next)
	}
}

// say writes a line for people to standard error. What it says may quote
// arguments, paths and stored text, so every line is cleaned.
func (a *app) say(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintln(a.Err, clean(strings.TrimRight(line, "\n")))
	}
}
