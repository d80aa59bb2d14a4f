package cli

import (
	"context"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/health"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// reportsAtOnce bounds how many palaces are looked at side by side: one on a
// network mount that does not answer must not hold up the others.
const reportsAtOnce = 4

// palaceRow is one palace in the palaces document.
type palaceRow struct {
	Path     string   `json:"path"`
	RealPath *string  `json:"real_path"`
	Aliases  []string `json:"aliases"`
	Source   string   `json:"source"`
	Backend  string   `json:"backend"`
	State    string   `json:"state"`
	// Rows are the drawers: of the collection that MemPalace files into, or of
	// all collections where there is none by that name.
	Rows    *int64         `json:"rows"`
	Bytes   *health.Bytes  `json:"bytes"`
	Lock    lockState      `json:"lock"`
	Verdict health.Verdict `json:"verdict"`
	// How says by whom or by what the palace was named.
	How []string `json:"how"`
}

type lockState struct {
	State string `json:"state"`
}

func (a *app) palacesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "palaces",
		Short: "The palaces it knows, and how it knows them",
		Long: `Palaces lists the palace that MemPalace would use, and every other that is
named by the environment or the configuration, was served by a hub, or lies
beside one that is known. Spellings of one palace are one row.`,
		Args: a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e := a.eyes("")
			defer a.shut(e)
			d, err := e.manager.Discover(cmd.Context(), a.flags.palace)
			if err != nil {
				return err
			}
			rows, err := e.palaceRows(cmd.Context(), d)
			if err != nil {
				return err
			}
			if a.flags.json {
				return writeJSON(a.out, rows)
			}
			a.printPalaces(rows, d.Notes)
			return nil
		},
	}
}

func (e eyes) palaceRows(ctx context.Context, d palace.Discovery) ([]palaceRow, error) {
	rows := make([]palaceRow, len(d.Palaces))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(reportsAtOnce)
	for i, found := range d.Palaces {
		group.Go(func() error {
			r := e.examiner.Report(ctx, found, health.Sampled)
			rows[i] = palaceRow{
				Path: r.Palace.Path, RealPath: r.Palace.RealPath, Aliases: r.Palace.Aliases, Source: r.Palace.Source,
				Backend: r.Palace.Backend, State: string(r.Palace.State), Rows: drawerCount(r.Collections, d.Config.CollectionName),
				Bytes: r.Palace.Bytes, Lock: lockState{r.Lock.State}, Verdict: r.Verdict, How: found.Detail,
			}
			return ctx.Err()
		})
	}
	return rows, group.Wait()
}

// drawerCount is nil when any figure it would need could not be read.
func drawerCount(list []health.Collection, name string) *int64 {
	var sum int64
	known := true
	for _, c := range list {
		if c.Name == name {
			return c.Rows
		}
		if c.Rows == nil {
			known = false
		} else {
			sum += *c.Rows
		}
	}
	if !known || len(list) == 0 {
		return nil
	}
	return &sum
}

func (a *app) printPalaces(rows []palaceRow, notes []palace.Note) {
	t := newTable(column{title: "PALACE", flex: true, path: true}, column{title: "DRAWERS", right: true}, column{title: "DISK", right: true, spare: 2},
		column{title: "KEPT BY", spare: 3}, column{title: "LOCK", spare: 1}, column{title: "STATE"}, column{title: "KNOWN FROM", spare: 4})
	for _, r := range rows {
		drawers, state := count(r.Rows), a.ink.verdict(r.Verdict)
		switch health.State(r.State) {
		case health.Missing, health.Empty, health.Uninitialised:
			drawers, state = "–", r.State
		case health.Unreadable:
			state = a.ink.severity(health.Bad, r.State)
		}
		kept := "–"
		if r.Backend != "unknown" {
			kept = backendWords(r.Backend)
		}
		disk := "–"
		if r.Bytes != nil {
			disk = size(r.Bytes)
		}
		t.add(clean(r.Path), drawers, disk, kept, lockWord(r.Lock.State), state, clean(r.Source))
	}
	t.write(a.out, a.ink, "", a.width)
	for _, r := range rows {
		for _, alias := range r.Aliases {
			a.paragraph("  ", "    ", clean(alias)+" is another path of "+clean(r.Path)+".")
		}
	}
	for _, n := range notes {
		a.paragraph("  ", "    ", clean(n.Text))
	}
	if len(rows) == 1 && rows[0].State == string(health.Missing) {
		a.gap()
		a.paragraph("", "", "No palace yet. MemPalace would keep one in "+clean(rows[0].Path)+". Name another with --palace, or run castellan demo.")
	}
}

// lockWord is a lock's state in a column: where there is no folder for locks,
// nobody holds one.
func lockWord(state string) string {
	if state == string(locks.NoDirectory) {
		return string(locks.Free)
	}
	return clean(state)
}
