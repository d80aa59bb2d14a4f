package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/change"
	"castellan/palace/queue"

	"github.com/spf13/cobra"
)

// queueDocument is what castellan queue answers: what waits, or is left.
type queueDocument struct {
	Entries []queueEntry `json:"entries"`
	// Applied is how many writes a drain has made.
	Applied *int `json:"applied,omitempty"`
}

// queueEntry is one waiting write. What cannot be read of it is null.
type queueEntry struct {
	ID          string      `json:"id"`
	Operation   *string     `json:"operation"`
	Collection  *string     `json:"collection"`
	Rows        int         `json:"rows"`
	Bytes       int64       `json:"bytes"`
	QueuedAt    *time.Time  `json:"queued_at"`
	Attempts    int         `json:"attempts"`
	LastRefusal *string     `json:"last_refusal"`
	State       queue.State `json:"state"`
}

func newQueueEntries(list []queue.Entry) []queueEntry {
	out := make([]queueEntry, len(list))
	for i, e := range list {
		out[i] = queueEntry{ID: e.Name, Rows: e.Rows, Bytes: e.Bytes, Attempts: e.Attempts, State: e.State}
		if e.Operation != "" {
			operation, collection, at := string(e.Operation), e.Collection, e.QueuedAt
			out[i].Operation, out[i].Collection, out[i].QueuedAt = &operation, &collection, &at
		}
		if e.LastRefusal != "" {
			refusal := e.LastRefusal
			out[i].LastRefusal = &refusal
		}
	}
	return out
}

func (a *app) queueCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Writes that wait for a busy palace: list, drain, drop, retry",
		Long: `Writes that met a palace which somebody held, and were to be kept for later
(--park), wait in a queue of Castellan's own. Whatever writes to that palace with
Castellan makes them first; drain makes them now.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("no command %q; castellan queue has list, drain, drop and retry", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			return usagef("say what to do: castellan queue list, drain, drop or retry")
		},
	}
	cmd.AddCommand(a.queueListCommand(), a.queueDrainCommand(), a.queueDropCommand(), a.queueRetryCommand())
	return cmd
}

func (a *app) queueListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list [PALACE]",
		Short:   "List the writes that wait, in the order in which they are made",
		Example: "  castellan queue list --json",
		Args:    a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.queued(cmd.Context(), func(q *queue.Queue, _ string) error { return a.listQueue(q, nil) })
		},
	}
}

func (a *app) queueDrainCommand() *cobra.Command {
	var f changeFlags
	cmd := &cobra.Command{
		Use:   "drain [PALACE]",
		Short: "Make the writes that wait",
		Long: `Drain makes the writes that wait, in the order in which they were parked. What
they delete is kept for castellan undo first. One that is refused stays, and
later ones of its collection wait behind it; one that can never be made is set
aside until it is dropped or tried again.`,
		Args: a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(a.flags, "queue drain"); err != nil {
				return err
			}
			return a.drain(cmd.Context(), f)
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) queueDropCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "drop ENTRY...",
		Short:   "Give a waiting write up for good",
		Example: "  castellan queue drop 3 --palace ~/palace",
		Args:    someEntries,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.flags.readOnly {
				return usagef("queue drop gives a write up; --read-only offers nothing that changes anything")
			}
			return a.queued(cmd.Context(), func(q *queue.Queue, path string) error { return a.drop(cmd.Context(), q, path, args) })
		},
	}
}

func (a *app) queueRetryCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "retry ENTRY...",
		Short: "Let a write that was set aside be tried again with the next drain",
		Args:  someEntries,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.flags.readOnly {
				return usagef("queue retry changes what waits; --read-only offers nothing that changes anything")
			}
			return a.queued(cmd.Context(), func(q *queue.Queue, _ string) error {
				list, err := entries(q, args)
				if err != nil {
					return err
				}
				for _, e := range list {
					if err := q.Retry(cmd.Context(), e.Name); err != nil {
						return err
					}
				}
				return a.listQueue(q, nil)
			})
		},
	}
}

func someEntries(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("name the entry, as castellan queue list shows it")
	}
	return nil
}

// queued opens the queue of the palace that was named, or the default one. The
// palace itself need not be possible to open.
func (a *app) queued(ctx context.Context, do func(q *queue.Queue, path string) error) error {
	e := a.eyes("")
	defer a.shut(e)
	d, err := e.manager.Discover(ctx, a.flags.palace)
	if err != nil {
		return err
	}
	site := d.Default()
	key := change.Key(site.LockPaths())
	if key == "" || site.Ref.Kind == backend.ChromaHTTP {
		return &action.RefusedError{Kind: "unsupported-backend", Subject: site.Ref.Path,
			Reason: "it is behind a server, which keeps its writers apart by itself: nothing waits for it", Next: "name the palace's directory"}
	}
	state, err := stateDir("")
	if err != nil {
		return err
	}
	q, err := queue.Open(state, key, queue.Options{Now: a.now})
	if err != nil {
		return err
	}
	return do(q, site.Ref.Path)
}

// short is an entry's number, by which people name it.
func short(name string) string {
	number, _, _ := strings.Cut(name, "-")
	return strings.TrimLeft(number, "0")
}

// entries finds those that are named, by number or in full.
func entries(q *queue.Queue, names []string) ([]queue.Entry, error) {
	all, err := q.List()
	if err != nil {
		return nil, err
	}
	var list []queue.Entry
	for _, name := range names {
		i := slices.IndexFunc(all, func(e queue.Entry) bool { return e.Name == name || short(e.Name) == name })
		if i < 0 {
			return nil, &action.RefusedError{Kind: "entry-not-found", Subject: name, Reason: "no write waits under this name", Next: "castellan queue list shows what waits"}
		}
		list = append(list, all[i])
	}
	return list, nil
}

func (a *app) drop(ctx context.Context, q *queue.Queue, path string, names []string) error {
	list, err := entries(q, names)
	if err != nil {
		return err
	}
	// A delete that is given up costs nothing but asking again. The text of
	// other writes may be nowhere else.
	plan := action.Plan{Risk: action.RiskReversible}
	for _, e := range list {
		a.say("%s", entryWords(newQueueEntries([]queue.Entry{e})[0]))
		if e.Operation != queue.Delete {
			plan.Risk, plan.TypedName = action.RiskDestructive, filepath.Base(path)
		}
	}
	if err := a.confirm(ctx, plan, "Give up "+many(len(list), "waiting write?", "waiting writes?")); err != nil {
		return err
	}
	for _, e := range list {
		if err := q.Drop(ctx, e.Name); err != nil {
			return err
		}
	}
	return a.listQueue(q, nil)
}

func (a *app) drain(ctx context.Context, f changeFlags) error {
	return a.changing(ctx, f.wait, func(t change.Target) error {
		act, err := change.NewDrain(t)
		if err != nil {
			return err
		}
		q, err := queue.Open(t.StateDir, t.Key(), queue.Options{Now: a.now})
		if err != nil {
			return err
		}
		plan, err := act.Plan(ctx)
		if err != nil {
			return err
		}
		none := 0
		switch r := plan.Refusal; {
		case f.dryRun:
			c := &changer{a: a, act: act, flags: f}
			return c.answerPlan(ctx, plan)
		case r != nil && r.Kind == change.NothingMatches:
			return a.listQueue(q, &none)
		case r != nil:
			return r
		}
		return a.runDrain(ctx, act, plan, q)
	})
}

func (a *app) runDrain(ctx context.Context, act *change.Drain, plan action.Plan, q *queue.Queue) error {
	runner, err := a.runner("")
	if err != nil {
		return err
	}
	defer a.endRuns(runner)
	run, err := runner.Start(ctx, act, plan)
	if err != nil {
		return err
	}
	a.follow(run)
	last := run.Snapshot()
	did, ok := last.Result.Detail.(*change.Drained)
	if !ok {
		return last.Err
	}
	if err := a.listQueue(q, &did.Applied); err != nil {
		return err
	}
	switch {
	case last.State == action.StateCancelled:
		return &toldError{kind: "interrupted", code: exitInterrupted, err: last.Err}
	case last.Err != nil:
		a.say("castellan: %v", last.Err)
		return &toldError{kind: "failed", code: describe(ctx, last.Err).code, err: last.Err}
	case did.Left > 0:
		return &toldError{kind: "queue-waits", code: exitFailed, err: fmt.Errorf("%d still wait", did.Left)}
	}
	return nil
}

// listQueue is the answer of all of these commands.
func (a *app) listQueue(q *queue.Queue, applied *int) error {
	list, err := q.List()
	if err != nil {
		return err
	}
	doc := queueDocument{Entries: newQueueEntries(list), Applied: applied}
	if a.flags.json {
		return writeJSON(a.out, doc)
	}
	if applied != nil && *applied > 0 {
		writeLine(a.out, many(*applied, "waiting write was made.", "waiting writes were made."))
	}
	if len(list) == 0 {
		writeLine(a.out, "No write waits for this palace.")
	}
	for _, e := range doc.Entries {
		writeLine(a.out, entryWords(e))
	}
	return nil
}

// entryWords is one waiting write on a line, clean.
func entryWords(e queueEntry) string {
	s := short(e.ID) + "  "
	if e.Operation == nil {
		s += "cannot be read"
	} else {
		s += fmt.Sprintf("%s %s in %s, since %s", *e.Operation, many(e.Rows, "row", "rows"), *e.Collection, e.QueuedAt.Local().Format("2006-01-02 15:04"))
	}
	switch e.State {
	case queue.StateSetAside:
		s += ", set aside"
	case queue.StateUnknown:
		s += ", may have been made"
	}
	if e.Attempts > 0 {
		s += fmt.Sprintf(", tried %s", many(e.Attempts, "time", "times"))
	}
	if e.LastRefusal != nil {
		s += ": " + *e.LastRefusal
	}
	return clean(s)
}
