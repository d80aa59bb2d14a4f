package cli

import (
	"castellan/palace/health"

	"github.com/spf13/cobra"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor [PALACE]",
		Short: "Everything checked, every finding with cause, evidence and remedy",
		Long: `Doctor checks everything about one palace and says what it found: how bad it
is, what causes it, the figures that show it, and what can be done.

It exits 0 when nothing is worse than a warning, 6 when it found an error or
worse, and 3 when the palace is missing or cannot be read at all.`,
		Args: a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, done := a.doctorLine()
			r, err := a.watch(cmd.Context(), health.Full, w)
			done()
			if err != nil {
				return err
			}
			if a.flags.json {
				if err := writeJSON(a.out, r); err != nil {
					return err
				}
			} else {
				a.printReport(r)
				a.gap()
				a.printFindings(r.Findings, everything)
			}
			if err := readable(r); err != nil {
				return err
			}
			if r.Verdict == health.VerdictError || r.Verdict == health.VerdictDanger {
				return errFindings
			}
			return nil
		},
	}
}
