package views

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"

	"castellan/palace/health"
	"castellan/palace/repair"
	"castellan/ui"
)

// numbered is what a letter with a number behind it does to a row of a list.
func (p *plain) numbered(letter string, n int, do func(i int) error) func(string) error {
	return func(rest string) error {
		i, err := strconv.Atoi(rest)
		if err != nil || i < 1 || i > n {
			p.say("Write a number of the list behind the letter: %s 1", letter)
			return errAsk
		}
		return do(i - 1)
	}
}

// cureFields are those whose keys are letters of the menu too: b goes back here,
// and the copies are a choice of the palace's menu.
func (p *plain) cureFields(r *reading, f health.Finding) []ui.Field {
	return slices.DeleteFunc(p.app.cureFields(r, f), func(f ui.Field) bool { return f.Label == "copies" })
}

// cureExtras is the letter that mends what a finding is about.
func (p *plain) cureExtras(r *reading, found []shownFinding) []extra {
	if p.app.noChange(r) != "" || len(found) == 0 {
		return nil
	}
	return []extra{{"R", "repair: R NUMBER", p.numbered("R", len(found), func(i int) error {
		how, why := p.app.cure(r, found[i].Finding)
		if why != "" {
			p.say("%s", sentence(why))
			return errAsk
		}
		return p.guide(p.app.repairing(r, how))
	})}}
}

// vitals reads out how each part of a palace is.
func (p *plain) vitals(r *reading) error {
	for _, c := range p.app.mainFirst(r.report) {
		p.say("")
		p.tell(p.app.partFields(r, c.Name, &c))
	}
	p.say("")
	p.tell(p.app.partFields(r, palacePart, nil))
	return errAsk
}

// backups reads the copies of a palace out.
func (p *plain) backups(r *reading) error {
	verify := false
	for {
		var list []repair.Backup
		var failed error
		if !question(p, func(ctx context.Context) ([]repair.Backup, error) {
			return p.app.opts.Core.Backups(ctx, r.found, verify)
		},
			func(got []repair.Backup, err error) { list, failed = got, err }) {
			p.say("No answer yet. r reads again.")
		}
		verify = false
		p.say("")
		if failed != nil {
			p.say("The copies could not be listed: %s", sentence(failed.Error()))
		} else {
			p.say("%s beside this palace, newest first.", plural(int64(len(list)), "copy", "copies"))
		}
		var choices []choice
		for _, b := range list {
			word, _ := verifiedWord(b)
			choices = append(choices, choice{fmt.Sprintf("%s, %s, verified %s: %s", ago(b.TakenAt, p.app.opts.Now()), humanize.Bytes(uint64(max(b.Bytes, 0))), word, b.Reason),
				func() error {
					p.say("")
					p.tell(p.app.backupFields(b))
					return errAsk
				}})
		}
		extras := []extra{{"v", "verify them all", func(string) error { verify = true; return nil }}, {"r", "read again", func(string) error { return nil }}}
		if p.app.noChange(r) == "" {
			extras = append([]extra{
				{"R", "restore: R NUMBER", p.numbered("R", len(list), func(i int) error {
					if why := noRestore(&list[i]); why != "" {
						p.say("%s", sentence(why))
						return errAsk
					}
					return p.guide(p.app.restoring(r, list[i].Path))
				})},
				{"B", "take a copy now", func(string) error { return p.guide(p.app.repairing(r, Mending{BackupOnly: true})) }},
			}, extras...)
		}
		if err := p.menu(choices, extras...); err != nil {
			return err
		}
	}
}
