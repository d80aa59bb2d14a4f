package action

import "context"

// reporter is what the action sees of its run. It falls silent with the end of
// the run, whoever still has it.
type reporter struct{ run *Run }

func (p reporter) Plan() Plan { return p.run.plan }

func (p reporter) Phase(next Phase) error {
	r := p.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished != nil {
		return errOver
	}
	// A cancel that came in a phase that could not stop takes effect where it
	// can. Between two that cannot, the palace may be in no state to be left.
	if r.cause != nil && next.CanStop {
		r.cancel(r.cause)
	}
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	r.settle()
	r.phase, r.bound, r.progress = next, !next.CanStop, Progress{}
	r.keep(next)
	return nil
}

func (p reporter) Progress(done, total int64, unit string) {
	r := p.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished == nil {
		r.progress = Progress{Done: done, Total: total, Unit: unit}
		r.replace(r.progress)
	}
}

func (p reporter) Log(level Level, text string) { p.run.say(Log{level, text}) }

func (p reporter) Finding(value any) { p.run.say(Finding{value}) }

func (r *Run) say(d Detail) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished == nil {
		r.keep(d)
	}
}
