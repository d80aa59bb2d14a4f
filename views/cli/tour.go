package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"castellan/palace"
	"castellan/palace/backend"
	"castellan/palace/health"

	"github.com/charmbracelet/x/ansi"
)

// drawersOnTour is how many drawers the tour takes out of each palace.
const drawersOnTour = 2

// stop is one palace of the tour, as its JSON form has it.
type stop struct {
	Name    string         `json:"name"`
	About   string         `json:"about"`
	Report  *health.Report `json:"report"`
	Drawers []drawerRow    `json:"drawers"`
	// Repair is what was done about it; nil = nothing.
	Repair *cure `json:"repair,omitempty"`
}

// tour shows every exhibit in plain text, palace by palace.
func (a *app) tour(ctx context.Context, home string, list []exhibit, holder int) error {
	e := a.eyes(home)
	defer a.shut(e)
	known, err := e.manager.Discover(ctx, "")
	if err != nil {
		return err
	}
	var stops []stop
	if !a.flags.json {
		a.paragraph("", "", fmt.Sprintf("A tour of %d sample palaces in a scratch home, %s, which is gone when this ends. "+
			"A second process, PID %d, holds the lock of one of them.", len(list), clean(home), holder))
	}
	for i, x := range list {
		s, err := a.visit(ctx, home, e, known, x)
		if err != nil {
			return err
		}
		if a.flags.json {
			stops = append(stops, s)
			continue
		}
		a.gap()
		a.heading(fmt.Sprintf("%d of %d  %s: %s", i+1, len(list), x.name, x.about))
		a.printStop(s)
		if err := a.out.Flush(); err != nil {
			return err
		}
	}
	if a.flags.json {
		return writeJSON(a.out, stops)
	}
	a.gap()
	a.paragraph("", "", "That was the tour. castellan palaces lists your own palaces, castellan status and castellan doctor look at one, castellan repair --plan says what would mend it.")
	return nil
}

func (a *app) heading(s string) {
	a.paragraph("", "", a.ink.bold(s))
	writeLine(a.out, a.ink.faint(strings.Repeat("─", min(ansi.StringWidth(s), 78))))
}

func (a *app) printStop(s stop) {
	a.printReport(s.Report)
	a.gap()
	a.printFindings(s.Report.Findings, toured)
	if len(s.Drawers) > 0 {
		a.gap()
		writeLine(a.out, "Some of its drawers:")
		for _, d := range s.Drawers {
			a.printDrawer(d)
		}
	}
	if s.Repair != nil {
		a.printCure(s.Repair)
	}
}

// visit examines one exhibit and takes a few drawers out of it. That some
// cannot be opened is what they are there to show. One it repairs.
func (a *app) visit(ctx context.Context, home string, e eyes, known palace.Discovery, x exhibit) (stop, error) {
	i := slices.IndexFunc(known.Palaces, func(f palace.Found) bool { return f.Ref.Path == x.path })
	if i < 0 {
		return stop{}, fmt.Errorf("the sample palace %s was not found", x.path)
	}
	found := known.Palaces[i]
	s := stop{Name: x.name, About: x.about, Drawers: []drawerRow{}}
	s.Report = e.examiner.Report(ctx, found, health.Full)
	if s.Report.Palace.State == health.OK {
		page, err := e.someDrawers(ctx, found.Ref, known.Config.CollectionName)
		if err == nil {
			s.Drawers = page
		}
	}
	if x.name == repairedExhibit && !a.flags.readOnly {
		var err error
		if s.Repair, err = a.cure(ctx, home, e, found); err != nil {
			return s, err
		}
	}
	return s, ctx.Err()
}

func (e eyes) someDrawers(ctx context.Context, ref backend.Ref, collection string) (rows []drawerRow, err error) {
	p, err := e.manager.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	c, err := p.Collection(ctx, collection)
	if err != nil {
		return nil, err
	}
	filter := backend.Filter{Where: withoutBookkeeping(nil)}
	page, err := c.Get(ctx, backend.Query{Filter: filter, Include: backend.Documents | backend.Metadatas, Limit: drawersOnTour})
	if err != nil {
		return nil, err
	}
	for _, r := range page.Records {
		rows = append(rows, newDrawerRow(r, false))
	}
	return rows, nil
}
