package cli

import (
	"castellan/locks"

	"github.com/spf13/cobra"
)

func (a *app) locksCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "locks",
		Short: "Every lock, who holds it, and who has which palace open",
		Long: `Locks shows the palace locks, the locks around single files, the processes
that have a palace open, and the slots of hooks. It is read from the kernel's
tables: nothing is locked, tried or removed.`,
		Args: a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e := a.eyes("")
			defer a.shut(e)
			d, err := e.manager.Discover(cmd.Context(), a.flags.palace)
			if err != nil {
				return err
			}
			var targets []locks.Target
			for i := range d.Palaces {
				f := &d.Palaces[i]
				targets = append(targets, locks.Target{Path: f.Ref.Path, Spellings: f.LockPaths()})
			}
			s, err := e.observer.Survey(cmd.Context(), targets)
			if err != nil {
				return err
			}
			doc := newLockDocument(s)
			if a.flags.json {
				return writeJSON(a.out, doc)
			}
			a.printLocks(doc)
			return nil
		},
	}
}
