package views

import (
	"context"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/backend"
	"castellan/palace/health"
)

// palaces is the first menu.
func (p *plain) palaces() error {
	h := p.app.house
	p.say("Looking for palaces.")
	p.load(h.discover())
	p.refresh()
	if r := h.find(p.app.starting); r != nil {
		if err := stay(p.palace(r)); err != nil {
			return err
		}
	}
	for {
		p.say("")
		p.say("%s.", plural(int64(len(h.palaces)), "palace", "palaces"))
		if h.trouble != nil {
			p.say("They could not all be listed: %v.", h.trouble)
		}
		if len(h.palaces) == 0 && h.discovered {
			p.say("No palace yet. MemPalace would keep one in ~/.mempalace/palace.")
		}
		var list []choice
		for _, r := range h.palaces {
			list = append(list, choice{p.palaceLine(r), chosen(func() error { return p.palace(r) })})
		}
		err := p.menu(list, append(p.resumeExtras(),
			extra{"p", "holders", func(string) error { return p.holders() }},
			extra{"t", "tasks", func(string) error { return chosen(p.tasks)() }},
			extra{"o", "open another path: o PATH", p.other},
			extra{"r", "read again", func(string) error { p.load(h.discover()); p.refresh(); return nil }})...)
		// There is nothing to go back to from here.
		if err := stay(err); err != nil {
			return err
		}
	}
}

// refresh reads all palaces.
func (p *plain) refresh() {
	var cmds []tea.Cmd
	for _, r := range p.app.house.palaces {
		cmds = append(cmds, p.app.house.ask(r))
	}
	p.load(cmds...) // what has no room is asked when there is, see take
}

// palaceLine is a palace in a sentence.
func (p *plain) palaceLine(r *reading) string {
	word, _ := p.app.state(r)
	s := p.app.path(r) + ": " + word
	if r.report == nil {
		if word == p.app.th.Glyphs.Ellipsis {
			return p.app.path(r) + ": still being read"
		}
		return s
	}
	if c := mainCollection(r.report, p.app.house.main); c != nil {
		s += ", " + figure(c.Rows) + " drawers, " + figure(c.Vectors.Searchable) + " searchable"
	}
	return s + ", " + size(r.report.Palace.Bytes) + ", lock " + lockCell(r.report.Lock).Text
}

func (p *plain) other(path string) error {
	if path == "" {
		p.say("Write the path behind the letter: o /path/to/a/palace")
		return errAsk
	}
	question(p, func(ctx context.Context) (struct{}, error) {
		_, err := p.app.opts.Core.Add(ctx, path)
		return struct{}{}, err
	}, func(_ struct{}, err error) {
		if err != nil {
			p.say("%s", sentence(err.Error()))
		}
	})
	p.load(p.app.house.discoverAgain())
	p.refresh()
	return nil
}

// palace is the menu of one palace.
func (p *plain) palace(r *reading) error {
	if r.report == nil {
		p.load() // it may just be slow
	}
	for {
		p.say("")
		p.tell(slices.Concat(p.app.palaceFields(r), p.app.repairFields(r), noteFields(p.app, r)))
		var list []choice
		if r.report != nil {
			for _, c := range r.report.Collections {
				words := fmt.Sprintf("Collection %s: %s drawers, %s missing, %s", c.Name, figure(c.Rows), figure(c.Vectors.Missing), grade(c.Verdict).Word())
				list = append(list, choice{words, chosen(func() error { return p.collection(r, c) })})
			}
			list = append(list, choice{fmt.Sprintf("Findings: %d", len(merge(r.report, r.full))), chosen(func() error { return p.findings(r) })})
			list = append(list, choice{"Health, part by part", func() error { return p.vitals(r) }})
			if p.app.noBackups(r) == "" {
				list = append(list, choice{"Copies that repairs took", chosen(func() error { return p.backups(r) })})
			}
		}
		err := p.menu(list, append(append(p.closeExtras(r), p.changeExtras(r)...), extra{"r", "read again", func(string) error { p.load(p.app.house.askAgain(r)); return nil }})...)
		if err != nil {
			return err
		}
	}
}

// chosen is a menu whose inner menus come back to it.
func chosen(f func() error) func() error { return func() error { return stay(f()) } }

// collection is the menu of one collection: facts and wings.
func (p *plain) collection(r *reading, c health.Collection) error {
	for {
		p.say("")
		p.tell(collectionFacts(p.app.th, &c))
		list := []choice{{"All drawers, newest first", chosen(func() error { return p.drawers(r, c.Name, selection{}) })}}
		for _, w := range c.Wings {
			list = append(list, choice{fmt.Sprintf("Wing %s: %s drawers", wingName(w.Name).Text, comma(w.Rows)),
				chosen(func() error { return p.drawers(r, c.Name, ofWing(&c, &w)) })})
		}
		if err := p.menu(list, p.searchExtras(r, c.Name)...); err != nil {
			return err
		}
	}
}

// plainPage is how many drawers are read out at once.
const plainPage = 10

// drawers reads drawers out, ten at a time.
func (p *plain) drawers(r *reading, collection string, sel selection) error {
	at, want, page := r.place(collection), "", int64(0)
	for {
		f := backend.Filter{Where: sel.where}
		if want != "" {
			f.WhereDocument = contains(want)
		}
		var rows []backend.Record
		var total int64
		var failed error
		from := page
		ok := question(p, func(ctx context.Context) (part, error) {
			return p.part(ctx, at, f, from)
		}, func(got part, err error) { rows, total, failed = got.rows, got.total, err })
		p.say("")
		switch {
		case !ok:
			p.say("No answer yet. r reads again.")
		case failed != nil:
			p.say("The drawers could not be read: %s", sentence(failed.Error()))
		case want != "":
			p.say("%s with %q, newest first.", plural(total, "drawer", "drawers"), want)
		default:
			p.say("%s, newest first.", plural(total, "drawer", "drawers"))
		}
		var list []choice
		var ids []string
		for i := len(rows) - 1; i >= 0; i-- {
			rec := rows[i]
			ids = append(ids, rec.ID)
			d := toDrawer(rec)
			list = append(list, choice{d.preview + " (" + d.wing + "/" + d.room + ")", func() error {
				p.say("")
				p.tell(drawerFields(rec, p.app.opts.Home))
				return errAsk
			}})
		}
		err := p.menu(list, append(p.deleteExtras(r, collection, sel, ids),
			extra{"n", "older", func(string) error {
				if (page+1)*plainPage < total {
					page++
				} else {
					p.say("These are the oldest.")
					return errAsk
				}
				return nil
			}},
			extra{"p", "newer", func(string) error { page = max(page-1, 0); return nil }},
			extra{"/", "find: /WORDS, / alone for all", func(s string) error { want, page = s, 0; return nil }},
			extra{"r", "read again", func(string) error { return nil }})...)
		if err != nil {
			return err
		}
	}
}

// part is a page of drawers and how many there are.
type part struct {
	rows  []backend.Record
	total int64
}

// part reads a page, counted from the newest drawer.
func (p *plain) part(ctx context.Context, at Place, f backend.Filter, page int64) (part, error) {
	total, err := p.app.opts.Core.Count(ctx, at, f)
	n := min(plainPage, total-page*plainPage)
	if err != nil || n <= 0 {
		return part{total: total}, err
	}
	got, err := p.app.opts.Core.Page(ctx, at, backend.Query{Filter: f, Include: backend.Documents | backend.Metadatas,
		Offset: int(max(total-(page+1)*plainPage, 0)), Limit: int(n)})
	return part{got.Records, total}, err
}

// findings reads the findings out.
func (p *plain) findings(r *reading) error {
	for {
		p.say("")
		found := merge(r.report, r.full)
		if len(found) == 0 {
			p.say("Nothing to report.")
		}
		var list []choice
		for _, f := range found {
			list = append(list, choice{severity(f.Severity).Word() + ": " + sentence(f.Cause), func() error {
				p.say("")
				p.tell(p.app.findingFields(f.Finding, "", p.cureFields(r, f.Finding)...))
				return errAsk
			}})
		}
		err := p.menu(list, append(p.cureExtras(r, found), extra{"d", "check everything", func(string) error { return p.doctor(r) }})...)
		if err != nil {
			return err
		}
	}
}

// doctor waits for the full check, saying now and then that it goes on.
func (p *plain) doctor(r *reading) error {
	p.say("Checking everything. This may take a while.")
	cmd := p.app.house.askDoctor(r)
	for p.load(cmd); !r.fullAsked.IsZero() && p.ctx.Err() == nil; p.load() {
		p.say("Still checking, %s.", span(p.app.opts.Now().Sub(r.fullAsked)))
	}
	p.say("Checked.")
	return nil
}

// holders reads out who has which palace.
func (p *plain) holders() error {
	p.say("")
	p.load(p.app.house.look())
	h := p.app.house
	if h.survey == nil {
		p.say("The locks have not been looked at yet. Try again.")
		return errAsk
	}
	s := newHolders(p.app, nil)
	for _, row := range s.rows {
		s.table.Select(row.id)
		p.tell(s.tellHolder())
		p.say("")
	}
	return errAsk
}
