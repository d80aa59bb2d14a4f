package views

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
	"castellan/ui"
	"castellan/ui/text"
)

// plain is the program line by line: no alternate screen, no borders, nothing that
// is drawn twice. A menu is numbered lines and a question, so that a screen
// reader reads it from top to bottom and a person answers with a number.
type plain struct {
	app   *App // for its house and its words; it draws nothing
	ctx   context.Context
	out   io.Writer
	lines chan string
	// answers are loads that came back, also late ones.
	answers chan tea.Msg
	open    int // loads under way
	err     error
}

// errLeave ends a menu, errQuit all of them. They are not failures.
var (
	errLeave = errors.New("back")
	errQuit  = errors.New("quit")
	// errAsk asks again without reading the whole menu out once more.
	errAsk = errors.New("ask again")
)

// lineLimit bounds a line that is typed.
const lineLimit = 64 << 10

func runPlain(ctx context.Context, o Options) error {
	o.Theme = theme.Plain()
	o.still = true
	p := &plain{app: newApp(ctx, o), ctx: ctx, out: o.Out, lines: make(chan string), answers: make(chan tea.Msg, 64)}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	// A read of a terminal cannot be called off: when ctx ends, this goroutine
	// stays in it until the process ends.
	go p.read(inner, o.In)
	err := p.palaces()
	p.app.work.end(patience)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errQuit) || errors.Is(err, errLeave):
		return nil
	}
	return err
}

// read passes lines on until there are no more.
func (p *plain) read(ctx context.Context, in io.Reader) {
	defer close(p.lines)
	s := bufio.NewScanner(in)
	s.Buffer(nil, lineLimit)
	for s.Scan() {
		select {
		case p.lines <- s.Text():
		case <-ctx.Done():
			return
		}
	}
}

// say writes a line. What it says may come from a palace: control characters are
// taken out.
func (p *plain) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if _, err := io.WriteString(p.out, text.Block(line)+"\n"); err != nil && p.err == nil {
		p.err = err
	}
}

// tell writes fields, one a line.
func (p *plain) tell(fields []ui.Field) {
	p.say("%s", strings.TrimRight(fieldsText(fields), "\n"))
}

// ask waits for a line. The end of the input is "quit".
func (p *plain) ask(question string) (string, error) {
	if p.err != nil {
		return "", p.err
	}
	if _, err := io.WriteString(p.out, question+" "); err != nil {
		return "", err
	}
	select {
	case <-p.ctx.Done():
		return "", errQuit
	case line, ok := <-p.lines:
		if !ok {
			p.say("")
			return "", errQuit
		}
		return strings.TrimSpace(text.Clean(line)), nil
	}
}

// choice is a line of a menu.
type choice struct {
	words string
	then  func() error
}

// extra is what a letter does in a menu.
type extra struct {
	key, words string
	then       func(rest string) error
}

// menu shows numbered choices and does what is chosen. Letters: b back, q quit, ?
// the choices once more, and the extras.
func (p *plain) menu(choices []choice, extras ...extra) error {
	p.offer(choices)
	for {
		answer, err := p.ask(p.question(len(choices), extras))
		if err != nil {
			return err
		}
		then := func() error { return errAsk }
		n, numeral := strconv.Atoi(answer)
		e, rest, letter := pick(extras, answer)
		switch {
		case answer == "q":
			return errQuit
		case answer == "b":
			return errLeave
		case numeral == nil && n >= 1 && n <= len(choices):
			then = choices[n-1].then
		case letter:
			then = func() error { return e.then(rest) }
		case answer == "?":
			p.offer(choices)
		case answer != "":
			p.say("There is no choice %q.", answer)
		}
		if err := then(); !errors.Is(err, errAsk) {
			return err
		}
	}
}

func (p *plain) offer(choices []choice) {
	for i, c := range choices {
		p.say("%d. %s", i+1, c.words)
	}
}

// pick finds the extra that an answer means: its letter, with or without more
// behind it.
func pick(extras []extra, answer string) (extra, string, bool) {
	for _, e := range extras {
		if rest, ok := strings.CutPrefix(answer, e.key); ok && (rest == "" || e.key == "/" || rest[0] == ' ') {
			return e, strings.TrimSpace(rest), true
		}
	}
	return extra{}, "", false
}

func (p *plain) question(n int, extras []extra) string {
	var parts []string
	switch {
	case n == 1:
		parts = append(parts, "1")
	case n > 1:
		parts = append(parts, fmt.Sprintf("1 to %d", n))
	}
	for _, e := range extras {
		parts = append(parts, e.key+" "+e.words)
	}
	parts = append(parts, "? choices", "b back", "q quit")
	return "Your choice (" + strings.Join(parts, ", ") + "):"
}

// stay turns the end of an inner menu into staying in this one.
func stay(err error) error {
	if errors.Is(err, errLeave) {
		return nil
	}
	return err
}

// load carries a load out and takes its answer; for long it waits a while, and
// then goes on without: the answer counts when it comes.
func (p *plain) load(cmds ...tea.Cmd) {
	for _, cmd := range cmds {
		p.start(cmd)
	}
	patience := time.NewTimer(p.app.opts.wait)
	defer patience.Stop()
	for p.open > 0 {
		select {
		case msg := <-p.answers:
			p.take(msg)
		case <-patience.C:
			return
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *plain) start(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	p.open++
	go func() {
		select {
		case p.answers <- cmd():
		case <-p.app.work.ctx.Done():
		}
	}()
}

func (p *plain) take(msg tea.Msg) {
	p.open--
	switch msg := msg.(type) {
	case tea.BatchMsg:
		for _, cmd := range msg {
			p.start(cmd)
		}
	case plainMsg:
		msg.then()
	default:
		p.app.house.update(msg)
		p.start(p.app.house.askDue())
	}
}

// plainMsg is an answer that only the menu that asked knows what to do with.
type plainMsg struct{ then func() }

// question asks the core something and hands the answer on; false if none came in
// time.
func question[T any](p *plain, load func(context.Context) (T, error), then func(T, error)) bool {
	done := false
	p.load(p.app.work.do(func(ctx context.Context) tea.Msg {
		v, err := load(ctx)
		return plainMsg{func() { done = true; then(v, err) }}
	}))
	return done
}
