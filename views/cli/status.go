package cli

import (
	"castellan/palace/health"

	"github.com/spf13/cobra"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status [PALACE]",
		Short: "A palace in figures: counts, index coverage, lock, disk, verdict",
		Long: `Status looks at one palace quickly and says how it is: exact counts, what a
search can reach, who holds the lock. Nothing is changed by looking.

It exits 0 whenever it could look, whatever it saw, and 3 when the palace is
missing or cannot be read; the report is printed in both cases.`,
		Args: a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := a.report(cmd.Context(), health.Sampled)
			if err != nil {
				return err
			}
			if a.flags.json {
				if err := writeJSON(a.out, r); err != nil {
					return err
				}
				return readable(r)
			}
			a.printReport(r)
			a.gap()
			a.printFindings(r.Findings, brief)
			if len(r.Findings) > 0 {
				writeLine(a.out, "castellan doctor tells each, and how it is known.")
			}
			return readable(r)
		},
	}
}

// readable is nil for a report of a palace that could be looked at: empty and
// uninitialised ones can.
func readable(r *health.Report) error {
	if r.Palace.State == health.Missing || r.Palace.State == health.Unreadable {
		return &ReportError{Report: r}
	}
	return nil
}
