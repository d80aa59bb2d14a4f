package cli

import (
	"fmt"

	"castellan/locks"
	"castellan/palace/action"
	"castellan/palace/action/closing"
	"castellan/palace/health"
)

// closeDocument is what castellan close answers.
type closeDocument struct {
	*closing.Outcome
	Lock health.Lock `json:"lock"`
}

// showClosePlan tells whom it would ask, before anybody is. It is part of the
// question, and goes where the question goes.
func (a *app) showClosePlan(p action.Plan) {
	a.say("%s", p.Title)
	for i := range p.Holders {
		a.say("  %s", a.holderWords(health.HolderDocument(&p.Holders[i])))
	}
	a.say("")
	a.sayList("Means", []string{p.Reason})
	a.sayList("Will", p.Steps)
	a.sayList("Leaves", p.Leaves)
	a.say("")
}

// tellClose is the answer.
func (a *app) tellClose(o *closing.Outcome) error {
	if a.flags.json {
		return writeJSON(a.out, closeDocument{Outcome: o, Lock: lockOf(o.Lock)})
	}
	for _, h := range o.Remaining {
		writeLine(a.out, fmt.Sprintf("PID %d %s still has it. castellan close --kill ends it by force: it cannot finish what it is writing then.", h.PID, clean(h.Command)))
	}
	for _, r := range o.CameBack {
		writeLine(a.out, cameBackWords(r))
	}
	switch {
	case len(o.Remaining) > 0 || len(o.CameBack) > 0:
		if len(o.CameBack) > 0 {
			writeLine(a.out, "What starts it will start it again: end that, or keep hooks away with castellan close --pause-hooks.")
		}
	case o.Lock.State == locks.Held:
		// The lock's own line says who.
	case o.Unsure():
		writeLine(a.out, "Nobody is seen with it any more, but not all can be seen from here.")
	case len(o.Asked) == 0:
		writeLine(a.out, "Nobody is seen to have it open for writing.")
	default:
		writeLine(a.out, "Closed. It was let go of, and nobody was seen to come back.")
	}
	a.printLock(lockOf(o.Lock))
	return nil
}

func cameBackWords(r closing.Returned) string {
	s := fmt.Sprintf("PID %d %s has it now", r.PID, clean(r.Command))
	if r.Parent != nil {
		s += ", started by " + clean(*r.Parent)
	}
	return s + "."
}
