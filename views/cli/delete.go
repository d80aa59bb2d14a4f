package cli

import (
	"context"

	"castellan/palace/change"

	"github.com/spf13/cobra"
)

func (a *app) deleteCommand() *cobra.Command {
	var f changeFlags
	var sel change.Selection
	var source, wing, room string
	var park bool
	cmd := &cobra.Command{
		Use:   "delete [PALACE]",
		Short: "Delete drawers, so that castellan undo can put them back",
		Long: `Delete removes the drawers of some ids, of a source file, of a wing, of a room,
or of a room of a wing, and the closets that go with them, as MemPalace does:
all closets of the source file, or of the drawers' source files for ids. With
--wing and --room, those of that wing or room, and of source files that are left
without a drawer. --collection limits it to one collection.

It shows first what would go, and asks; a wing's name has to be typed. --yes
answers. Every row is kept, with its vector, before the first one is deleted.

An id of a text that MemPalace has cut into parts means all parts. Names are
compared exactly.`,
		Example: `  castellan delete --source /home/me/notes/old.md --dry-run
  castellan delete --id drawer_notes_general_1f2e3d --id drawer_notes_general_4c5b6a
  castellan delete ~/palace --wing scratch
  castellan delete --wing scratch --room logs --wait 5m --park`,
		Args: a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for name, to := range map[string]struct{ value, into any }{
				"source": {&source, &sel.Source}, "wing": {&wing, &sel.Wing}, "room": {&room, &sel.Room},
			} {
				if cmd.Flags().Changed(name) {
					*to.into.(**string) = to.value.(*string)
				}
			}
			if err := f.check(a.flags, "delete"); err != nil {
				return err
			}
			if err := sel.Check(); err != nil {
				return &UsageError{Err: err}
			}
			return a.delete(cmd.Context(), f, sel, park)
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&sel.IDs, "id", nil, "the drawer with this id; may be given many times")
	fl.StringVar(&source, "source", "", "the drawers of this source file, as the metadata has it")
	fl.StringVar(&wing, "wing", "", "the drawers of this wing")
	fl.StringVar(&room, "room", "", "the drawers of this room, of one wing with --wing")
	fl.StringVar(&sel.Collection, "collection", "", "only rows of this collection")
	fl.BoolVar(&park, "park", false, "if somebody holds the palace, keep the delete for later (castellan queue)")
	f.add(cmd)
	return cmd
}

func (a *app) delete(ctx context.Context, f changeFlags, sel change.Selection, park bool) error {
	return a.changing(ctx, f.wait, func(t change.Target) error {
		d, err := change.NewDelete(t, sel)
		if err != nil {
			return err
		}
		c := &changer{a: a, act: d, flags: f, question: "Delete them?", tell: a.tellDeleted}
		if park {
			c.park = func(ctx context.Context) ([]queueEntry, error) {
				list, err := d.Park(ctx)
				return newQueueEntries(list), err
			}
		}
		return c.do(ctx, t.Palace.Ref().Path)
	})
}
