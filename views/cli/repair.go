package cli

import (
	"context"
	"errors"
	"os/exec"
	"strings"

	"castellan/locks"
	"castellan/palace/action"
	"castellan/palace/backend"
	"castellan/palace/repair"

	"github.com/spf13/cobra"
)

type repairFlags struct {
	changeFlags
	plan, backupOnly, withChroma bool
	mode, python                 string
}

func (a *app) repairCommand() *cobra.Command {
	var f repairFlags
	cmd := &cobra.Command{
		Use:   "repair [PALACE]",
		Short: "Mend a palace, so that no drawer can be lost",
		Long: `Repair does what the doctor's findings call for, or what --mode says. It shows
first what it would do, and asks; --yes answers.

A verified copy of the database and the indexes is taken beside the palace
before anything is changed. The palace is safe to open after every step: whatever
moment it is stopped at, castellan repair goes on from there, and castellan undo
takes it back. No text is embedded again.

  max-seq-id    positions that no write ever had, a lost top of the write queue
  seq-id-blob   numbers that old versions of Chroma stored as bytes
  index         the vector index, built from the vectors that are still on disk
  fts           the full-text index, built from the documents
  orphans       what belongs to no collection and no drawer, moved to the copy
  vacuum        free pages of the database
  from-sqlite   a new palace beside this one, from what can be read of it`,
		Example: `  castellan repair --plan
  castellan repair ~/palace --mode index --yes
  castellan repair --backup-only`,
		Args: a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.dryRun = f.dryRun || f.plan
			if err := f.check(a.flags, "repair"); err != nil {
				return err
			}
			if f.backupOnly && f.mode != "" {
				return usagef("--backup-only repairs nothing; leave --mode out")
			}
			return a.repair(cmd.Context(), f)
		},
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.plan, "plan", false, "say what would be done, and do nothing; --dry-run is the same")
	fl.StringVar(&f.mode, "mode", "", "what to do (default: what the findings call for)")
	fl.BoolVar(&f.backupOnly, "backup-only", false, "take the verified copy, and repair nothing")
	fl.BoolVar(&f.withChroma, "verify-with-chroma", false, "also open a copy of the repaired palace with Python's chromadb")
	fl.StringVar(&f.python, "python", "python3", "the Python of --verify-with-chroma")
	return cmd
}

func (a *app) repair(ctx context.Context, f repairFlags) error {
	return a.mending(ctx, f.changeFlags, func(o repair.Options) (action.Action, error) {
		o.Mode, o.BackupOnly = repair.Mode(f.mode), f.backupOnly
		if f.withChroma {
			path, err := exec.LookPath(f.python)
			if err != nil {
				return nil, usagef("--verify-with-chroma needs a Python: %v", err)
			}
			o.Python = path
		}
		r, err := repair.New(ctx, o)
		if err != nil {
			return nil, &UsageError{Err: err}
		}
		return r, nil
	}, "Repair it?")
}

// mending makes an action on a palace that need not be possible to open, and
// carries it to its end.
func (a *app) mending(ctx context.Context, f changeFlags, make func(repair.Options) (action.Action, error), question string) error {
	e := a.eyes("")
	defer a.shut(e)
	d, err := e.manager.Discover(ctx, a.flags.palace)
	if err != nil {
		return err
	}
	state, err := stateDir("")
	if err != nil {
		return err // what cannot be recorded is not repaired
	}
	act, err := make(repair.Options{
		Manager: e.manager, Examiner: e.examiner, Found: *d.Default(), StateDir: state, Wait: f.wait, Now: a.now, Version: buildVersion().Castellan,
		Observer: locks.NewObserver(locks.Options{Now: a.now, SampleInterval: -1}),
	})
	if err != nil {
		return err
	}
	c := &changer{a: a, act: act, flags: f, question: question, tell: a.tellRepaired}
	return c.do(ctx, d.Default().Ref.Path)
}

func (a *app) backupsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backups",
		Short: "Verified copies beside a palace: list them, restore one",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return usagef("backups list, or backups restore PATH") },
	}
	var verify bool
	list := &cobra.Command{
		Use:   "list [PALACE]",
		Short: "The copies that repairs took, with sizes and ages",
		Args:  a.onePalace,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.listBackups(cmd.Context(), verify) },
	}
	list.Flags().BoolVar(&verify, "verify", false, "read every copy, and ask SQLite about its database")
	var f changeFlags
	restore := &cobra.Command{
		Use:   "restore BACKUP",
		Short: "Make a palace what a copy of it says",
		Long: `Restore verifies the copy, copies the palace as it is, and puts the copy's rows
and indexes in its place. castellan undo takes it back.`,
		Example: `  castellan backups restore ~/.mempalace/palace.castellan-backup-20261130-120000
  castellan backups restore --palace ~/palace --dry-run ~/palace.castellan-backup-20261130-120000`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(a.flags, "backups restore"); err != nil {
				return err
			}
			return a.restoreBackup(cmd.Context(), f, args[0])
		},
	}
	f.add(restore)
	cmd.AddCommand(list, restore)
	return cmd
}

// restoreBackup restores the palace that was named, or the one whose copy it
// is by its name.
func (a *app) restoreBackup(ctx context.Context, f changeFlags, from string) error {
	if a.flags.palace == "" {
		if i := strings.LastIndex(from, repair.BackupInfix); i > 0 {
			a.flags.palace = from[:i]
		}
	}
	return a.mending(ctx, f, func(o repair.Options) (action.Action, error) {
		return repair.NewRestore(ctx, o, from)
	}, "Restore it?")
}

func (a *app) listBackups(ctx context.Context, verify bool) error {
	e := a.eyes("")
	defer a.shut(e)
	d, err := e.manager.Discover(ctx, a.flags.palace)
	if err != nil {
		return err
	}
	found := d.Default()
	if found.Ref.Kind == backend.ChromaHTTP {
		return usagef("a server's copies are not beside it; name a directory")
	}
	site := e.manager.Examine(ctx, found.Ref.Path)
	dir := site.Ref.Real
	if dir == "" {
		dir = site.Ref.Path
	}
	list, err := repair.Backups(ctx, dir, verify)
	if err != nil {
		return errors.Join(&ReadError{Palace: found.Ref.Path, Err: err})
	}
	if a.flags.json {
		return writeJSON(a.out, list)
	}
	a.tellBackups(list)
	return nil
}
