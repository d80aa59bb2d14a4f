package views

import (
	"context"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/locks"
	"castellan/palace"
	"castellan/palace/health"
)

// house is what all screens know together: the palaces and what was last read
// of each. Only Update changes it.
type house struct {
	core Core
	work *work
	now  func() time.Time

	palaces []*reading
	notes   []palace.Note
	// main is the collection MemPalace files into, by its configuration.
	main       string
	discovered bool
	trouble    error // why the palaces could not be listed

	survey      *locks.Survey
	surveyErr   error
	surveyAsked time.Time
	surveyGen   int

	discoverAsked time.Time
	discoverGen   int
}

// reading is what was last read of one palace. An older report stays until a
// newer one comes.
type reading struct {
	found  palace.Found
	report *health.Report
	at     time.Time // of the last answer
	took   time.Duration
	seen   sight
	asked  time.Time // when the question under way was asked; zero: none is
	due    bool      // to be asked as soon as there is room
	gen    int
	cancel context.CancelFunc

	// The doctor's report, apart from the quick one: it takes its time, and the
	// quick one must go on meanwhile.
	full       *health.Report
	fullAt     time.Time
	fullAsked  time.Time
	fullGen    int
	fullCancel context.CancelFunc
	fullDone   *atomic.Pointer[health.Progress] // how far it is, told from outside Update
}

// Messages of the house. gen is the number of the question.
type (
	discoveredMsg struct {
		gen  int
		what palace.Discovery
		err  error
	}
	reportMsg struct {
		path   string
		gen    int
		depth  health.Depth
		report *health.Report
	}
	surveyMsg struct {
		gen  int
		what locks.Survey
		err  error
	}
	addedMsg struct {
		path  string
		found palace.Found
		err   error
	}
)

// path is how a palace is called everywhere.
func (r *reading) path() string { return r.found.Ref.Path }

// place is one of its collections.
func (r *reading) place(collection string) Place { return Place{r.found, collection} }

// late is how long the question under way has been without an answer.
func (r *reading) late(now time.Time) time.Duration {
	if r.asked.IsZero() {
		return 0
	}
	return now.Sub(r.asked)
}

// silent tells whether any palace keeps silent.
func (h *house) silent() bool {
	for _, r := range h.palaces {
		if r.late(h.now()) >= slowPalace {
			return true
		}
	}
	return false
}

func (h *house) find(path string) *reading {
	for _, r := range h.palaces {
		if r.path() == path || slices.Contains(r.found.Aliases, path) || r.found.Ref.Real == path {
			return r
		}
	}
	return nil
}

// discover asks for the list of palaces, unless that is being asked already.
func (h *house) discover() tea.Cmd {
	if !h.discoverAsked.IsZero() {
		return nil
	}
	h.discoverAsked = h.now()
	h.discoverGen++
	gen := h.discoverGen
	return h.work.do(func(ctx context.Context) tea.Msg {
		d, err := h.core.Discover(ctx)
		return discoveredMsg{gen, d, err}
	})
}

// discoverAgain gives the question under way up: it was asked before there was
// something new to find.
func (h *house) discoverAgain() tea.Cmd {
	h.discoverAsked = time.Time{}
	return h.discover()
}

// askedAtOnce is how many palaces are read at the same time. Those that keep
// silent do not count: one dead disk must not keep the others waiting.
const askedAtOnce = 4

// A palace whose look takes long is looked at less often: it rests ten times as
// long as the look took, half a minute at most.
const (
	restFactor  = 10
	longestRest = 30 * time.Second
)

// ask asks for one palace's report, unless that is being asked already. When
// there is no room the palace is due.
func (h *house) ask(r *reading) tea.Cmd {
	if !r.asked.IsZero() || !r.at.IsZero() && h.now().Sub(r.at) < min(restFactor*r.took, longestRest) {
		return nil
	}
	under := 0
	for _, other := range h.palaces {
		if late := other.late(h.now()); !other.asked.IsZero() && late < slowPalace {
			under++
		}
	}
	if r.due = under >= askedAtOnce; r.due {
		return nil
	}
	return h.askNow(r)
}

// askDue asks for the palaces that are due, as far as there is room.
func (h *house) askDue() tea.Cmd {
	var cmds []tea.Cmd
	for _, r := range h.palaces {
		if r.due {
			cmds = append(cmds, h.ask(r))
		}
	}
	return tea.Batch(cmds...)
}

func (h *house) askNow(r *reading) tea.Cmd {
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(h.work.ctx)
	r.asked = h.now()
	r.gen++
	return h.question(ctx, r, r.gen, health.Sampled)
}

// askAgain gives the question under way up and asks a new one.
func (h *house) askAgain(r *reading) tea.Cmd {
	if r.cancel != nil {
		r.cancel()
	}
	return h.askNow(r)
}

// askDoctor asks for the full examination.
func (h *house) askDoctor(r *reading) tea.Cmd {
	if !r.fullAsked.IsZero() {
		return nil
	}
	var ctx context.Context
	ctx, r.fullCancel = context.WithCancel(h.work.ctx)
	r.fullAsked = h.now()
	r.fullGen++
	r.fullDone = &atomic.Pointer[health.Progress]{}
	found, gen, done := r.found, r.fullGen, r.fullDone
	return h.work.under(ctx, func(ctx context.Context) tea.Msg {
		watch := health.Watch{Progress: func(p health.Progress) { done.Store(&p) }}
		report := watched(ctx, h.core, found, watch)
		return reportMsg{found.Ref.Path, gen, health.Full, report}
	})
}

// watched is a full report of a core that can be watched at it, or of one that
// cannot.
func watched(ctx context.Context, c Core, found palace.Found, w health.Watch) *health.Report {
	type watcher interface {
		Watch(context.Context, palace.Found, health.Depth, health.Watch) *health.Report
	}
	if c, ok := c.(watcher); ok {
		return c.Watch(ctx, found, health.Full, w)
	}
	return c.Report(ctx, found, health.Full)
}

// stopDoctor gives the full examination up.
func (h *house) stopDoctor(r *reading) {
	if r.fullCancel != nil {
		r.fullCancel()
	}
	r.fullGen++
	r.fullAsked = time.Time{}
}

func (h *house) question(ctx context.Context, r *reading, gen int, depth health.Depth) tea.Cmd {
	found := r.found
	return h.work.under(ctx, func(ctx context.Context) tea.Msg {
		return reportMsg{found.Ref.Path, gen, depth, h.core.Report(ctx, found, depth)}
	})
}

// slowPalace is how long a palace may keep silent before looks at several
// palaces at once leave it out.
const slowPalace = 3 * time.Second

// look asks who holds and who uses the palaces.
func (h *house) look() tea.Cmd {
	if !h.surveyAsked.IsZero() || !h.discovered {
		return nil
	}
	h.surveyAsked = h.now()
	h.surveyGen++
	gen := h.surveyGen
	var list []palace.Found
	for _, r := range h.palaces {
		if r.late(h.now()) < slowPalace {
			list = append(list, r.found)
		}
	}
	return h.work.do(func(ctx context.Context) tea.Msg {
		s, err := h.core.Survey(ctx, list)
		return surveyMsg{gen, s, err}
	})
}

// contended tells whether anybody holds a palace. Then who waits for it is looked at
// now and then, for the timeline of the holders.
func (h *house) contended() bool {
	for _, r := range h.palaces {
		if r.report != nil && r.report.Lock.State == "held" {
			return true
		}
	}
	return false
}

// lookAgain gives the look under way up: something has changed since.
func (h *house) lookAgain() tea.Cmd {
	h.surveyAsked = time.Time{}
	return h.look()
}

// update takes an answer, and tells whether anything to be seen has changed.
// Late answers are dropped.
func (h *house) update(msg tea.Msg) (changed bool) {
	switch msg := msg.(type) {
	case discoveredMsg:
		if msg.gen != h.discoverGen {
			return false
		}
		h.discoverAsked = time.Time{}
		return h.list(msg)
	case reportMsg:
		return h.reported(msg)
	case surveyMsg:
		if msg.gen != h.surveyGen {
			return false
		}
		h.surveyAsked = time.Time{}
		h.surveyErr = msg.err
		if msg.err == nil {
			h.survey = &msg.what
			for _, r := range h.palaces {
				r.seen.survey(msg.what.Palace(r.path()), h.now())
			}
		}
		return true
	}
	return false
}

func (h *house) list(msg discoveredMsg) bool {
	if msg.err != nil {
		changed := h.trouble == nil || h.trouble.Error() != msg.err.Error()
		h.trouble = msg.err
		return changed
	}
	changed := !h.discovered || h.trouble != nil || !reflect.DeepEqual(h.notes, msg.what.Notes)
	h.discovered, h.trouble = true, nil
	h.notes = msg.what.Notes
	h.main = msg.what.Config.CollectionName
	var list []*reading
	for _, f := range msg.what.Palaces {
		r := h.find(f.Ref.Path)
		if r == nil || slices.Contains(list, r) {
			r = &reading{}
		}
		if !reflect.DeepEqual(r.found, f) {
			r.found, changed = f, true
		}
		list = append(list, r)
	}
	for _, r := range h.palaces {
		if !slices.Contains(list, r) {
			changed = true
			r.abandon()
		}
	}
	h.palaces = list
	return changed
}

// abandon calls off what is being asked about a palace that is gone.
func (r *reading) abandon() {
	for _, cancel := range []context.CancelFunc{r.cancel, r.fullCancel} {
		if cancel != nil {
			cancel()
		}
	}
}

func (h *house) reported(msg reportMsg) bool {
	r := h.find(msg.path)
	switch {
	case r == nil || msg.report == nil:
		return false
	case msg.depth == health.Full:
		if msg.gen != r.fullGen {
			return false
		}
		r.fullCancel()
		r.full, r.fullAt, r.fullAsked = msg.report, h.now(), time.Time{}
		return true
	case msg.gen != r.gen:
		return false
	}
	wasLate := r.late(h.now()) >= slowPalace
	r.cancel()
	r.at, r.took, r.asked = h.now(), h.now().Sub(r.asked), time.Time{}
	r.seen.note(msg.report, r.at)
	if r.report != nil && (r.report == msg.report || reflect.DeepEqual(r.report, msg.report)) {
		return wasLate
	}
	r.report = msg.report
	return true
}
