package views

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/palace/backend"
	"castellan/palace/search"
)

// plainResults is how many drawers a search reads out.
const plainResults = 10

// searchExtras are the letters for searching and measuring a collection.
func (p *plain) searchExtras(r *reading, collection string) []extra {
	return []extra{
		{"s", "search: s WORDS", func(words string) error {
			if words == "" {
				p.say("Write the words behind the letter: s why did we move")
				return errAsk
			}
			return stay(p.searching(r, collection, search.Question{Words: words}))
		}},
		{"i", "index quality", func(string) error { return p.quality(r, collection) }},
	}
}

// searching reads out what a question finds.
func (p *plain) searching(r *reading, collection string, q search.Question) error {
	q.Results = plainResults
	at := r.place(collection)
	for {
		var a search.Answer
		var failed error
		p.say("Searching.")
		ok := question(p, func(ctx context.Context) (search.Answer, error) { return p.app.opts.Core.Search(ctx, at, q) },
			func(got search.Answer, err error) { a, failed = got, err })
		switch {
		case !ok:
			p.say("No answer yet. r asks again.")
		case failed != nil:
			p.say("The search failed: %s", sentence(failed.Error()))
		default:
			p.say("%s, best first. By %s.", plural(int64(len(a.Hits)), "drawer", "drawers"), a.Reason)
		}
		var list []choice
		for _, h := range a.Hits {
			d := toDrawer(h.Record)
			words := d.preview
			if h.Document != nil {
				words = excerpt(h.Text, a.Terms)
			}
			list = append(list, choice{fmt.Sprintf("%s (%s/%s, %s)", words, d.wing, d.room, figuresOf(h)), func() error {
				p.say("")
				p.tell(p.app.hitFields(h, a))
				return errAsk
			}})
		}
		err := p.menu(list,
			extra{"m", "more like one: m NUMBER", func(s string) error {
				n, err := strconv.Atoi(s)
				if err != nil || n < 1 || n > len(a.Hits) {
					p.say("Write the number of a drawer behind the letter: m 1")
					return errAsk
				}
				return stay(p.searching(r, collection, search.Question{Like: a.Hits[n-1].ID, Filter: backend.Filter{Where: q.Filter.Where}}))
			}},
			extra{"r", "ask again", func(string) error { return nil }})
		if err != nil {
			return err
		}
	}
}

// quality measures the engines and reads the figures out.
func (p *plain) quality(r *reading, collection string) error {
	at := r.place(collection)
	p.say("Measuring the engines. This reads every vector and may take a while.")
	var q search.Quality
	var failed error
	done := false
	cmd := p.app.work.do(func(ctx context.Context) tea.Msg {
		got, err := p.app.opts.Core.Measure(ctx, at, func(string) {})
		return plainMsg{func() { q, failed, done = got, err, true }}
	})
	began := p.app.opts.Now()
	for p.load(cmd); !done && p.ctx.Err() == nil; p.load() {
		p.say("Still measuring, %s.", span(p.app.opts.Now().Sub(began)))
	}
	if failed != nil {
		p.say("It could not be measured: %s", sentence(failed.Error()))
		return errAsk
	}
	if !done {
		return errAsk
	}
	for _, e := range q.Engines {
		var facts []string
		if e.Questions > 0 {
			facts = append(facts, "finds "+percent(e.Recall), "half of the questions within "+duration(e.Median).Text,
				duration(e.Build).Text+" to begin", plural(int64(e.Vectors), "vector", "vectors"))
		}
		if e.Refused != "" {
			facts = append(facts, "refused: "+e.Refused)
		}
		p.say("%s: %s.", search.Words(e.Name), strings.Join(facts, ", "))
	}
	p.tell(shapeFields(q.Index))
	return errAsk
}
