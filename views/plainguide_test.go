package views

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace/action"
	"castellan/palace/action/closing"
	"castellan/ui/uitest"
)

// person answers each question of the plain form when it is asked: what is typed
// ahead during a run would be meant for the run.
type person struct {
	out     strings.Builder
	answers []string
	in      *io.PipeWriter
}

func (x *person) Write(b []byte) (int, error) {
	x.out.Write(b)
	asked := strings.HasSuffix(string(b), ": ")
	switch {
	case asked && len(x.answers) == 0:
		_ = x.in.Close()
	case asked || strings.HasPrefix(string(b), "Started.") && len(x.answers) > 0 && x.answers[0] == "x":
		next := x.answers[0]
		x.answers = x.answers[1:]
		go func() { _, _ = io.WriteString(x.in, next+"\n") }()
	}
	return len(b), nil
}

func plainDialog(t *testing.T, core Core, answers ...string) string {
	t.Helper()
	in, typed := io.Pipe()
	x := &person{answers: answers, in: typed}
	err := Run(context.Background(), Options{Core: core, Theme: uitest.Color(), Home: fakeHome, Version: "1.0", Plain: true, In: in, Out: x,
		Now: func() time.Time { return noon }, Getenv: func(string) string { return "" }, wait: deadline})
	if err != nil {
		t.Fatalf("%v after\n%s", err, x.out.String())
	}
	_ = in.Close()
	return x.out.String()
}

func TestThePlainFormGuidesLineByLine(t *testing.T) {
	t.Parallel()
	r := newRehearsal(t, newSite(t, "healthy"), done)
	uitest.Golden(t, "plain-close.txt", plainDialog(t, r, "1", "c", "n", "c", "y", "b", "t", "1", "b", "q"))
}

func TestThePlainFormOffersForceOnlyAfterAskingAndWantsTheName(t *testing.T) {
	t.Parallel()
	r := newRehearsal(t, newSite(t, "healthy"), done)
	r.result.Detail = &closing.Outcome{Remaining: []locks.Holder{*busyMine()}, Lock: locks.PalaceLock{State: locks.Held}}
	out := plainDialog(t, r, "1", "K", "c", "y", "K", "n", "q")
	if n := strings.Count(out, "K end its holder by force"); n < 1 || !strings.Contains(out, `There is no choice "K".`) {
		t.Errorf("force is offered %d times:\n%s", n, out)
	}
	r.plan.Risk, r.plan.TypedName = action.RiskDestructive, "healthy"
	out = plainDialog(t, r, "1", "c", "y", "c", "healthy", "q")
	if strings.Count(out, "Nothing was done.") != 1 || strings.Count(out, "Started.") != 1 {
		t.Errorf("the name does not decide:\n%s", out)
	}
}

func TestThePlainFormCancelsWithX(t *testing.T) {
	t.Parallel()
	r := newRehearsal(t, newSite(t, "healthy"), func(*rehearsal) func(context.Context, action.Reporter) error {
		return func(ctx context.Context, say action.Reporter) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}
	})
	out := plainDialog(t, r, "1", "c", "y", "x", "q")
	if !strings.Contains(out, "cancelled after") {
		t.Errorf("x did not cancel:\n%s", out)
	}
}

func wantInOrder(t *testing.T, s string, parts ...string) {
	t.Helper()
	rest := s
	for _, p := range parts {
		_, after, ok := strings.Cut(rest, p)
		if !ok {
			t.Fatalf("no %q in its place in\n%s", p, s)
		}
		rest = after
	}
}
