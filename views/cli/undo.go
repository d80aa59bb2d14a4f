package cli

import (
	"context"

	"castellan/palace/change"
	"castellan/palace/repair"

	"github.com/spf13/cobra"
)

func (a *app) undoCommand() *cobra.Command {
	var f changeFlags
	cmd := &cobra.Command{
		Use:   "undo [PALACE]",
		Short: "Put back what the last delete or repair replaced",
		Long: `Undo puts back the rows of the last delete that was not put back yet, with their
text, metadata and vectors. Called again, it goes on with the delete before.

It never replaces anything: when rows were written since under the same ids, it
says how many and does nothing.

A repair is taken back as a whole, from the copy that it took, unless something
was written since: then it says so and does nothing.`,
		Example: `  castellan undo --dry-run
  castellan undo ~/palace --yes`,
		Args: a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(a.flags, "undo"); err != nil {
				return err
			}
			return a.undo(cmd.Context(), f)
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) undo(ctx context.Context, f changeFlags) error {
	return a.changing(ctx, f.wait, func(t change.Target) error {
		u, err := change.NewUndo(t, repair.Restorer{})
		if err != nil {
			return err
		}
		c := &changer{a: a, act: u, flags: f, question: "Put them back?", tell: a.tellPutBack}
		return c.do(ctx, t.Palace.Ref().Path)
	})
}
