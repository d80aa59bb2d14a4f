package closing

import (
	"context"
	"testing"

	"castellan/palace/action"
)

// resume takes the way of every action.
func resume(t *testing.T, h *Hooks) (action.Plan, action.Snapshot) {
	t.Helper()
	r := Resuming{h}
	plan, err := r.Plan(context.Background())
	must(t, err)
	if plan.Refusal != nil {
		return plan, action.Snapshot{}
	}
	runner := action.NewRunner(action.Options{})
	run, err := runner.Start(context.Background(), r, plan)
	must(t, err)
	<-run.Done()
	must(t, runner.Shutdown(context.Background()))
	return plan, run.Snapshot()
}

func TestResumingPutsBackWhatWasPausedAndSaysSo(t *testing.T) {
	t.Parallel()
	const before = `{"hooks": {"auto_save": true}}`
	h := newHooks(t, before)
	if _, err := h.Pause(); err != nil {
		t.Fatal(err)
	}
	_, run := resume(t, h)
	if run.State != action.StateDone || run.Result.Summary != "automatic saves are as they were before" || text(t, h.File) != before {
		t.Errorf("%s, %q, %v: %s", run.State, run.Result.Summary, run.Err, text(t, h.File))
	}
}

func TestResumingRefusesWhereNothingWasPaused(t *testing.T) {
	t.Parallel()
	h := newHooks(t, `{"hooks": {"auto_save": false}}`)
	plan, _ := resume(t, h)
	if plan.Refusal == nil || plan.Refusal.Kind != NotPaused {
		t.Errorf("%+v", plan.Refusal)
	}
}

func TestResumingLeavesWhatSomebodyHasSetSince(t *testing.T) {
	t.Parallel()
	h := newHooks(t, `{"hooks": {"auto_save": true}}`)
	if _, err := h.Pause(); err != nil {
		t.Fatal(err)
	}
	const since = `{"hooks": {"auto_save": true, "daemon": true}}`
	f, _, err := h.read()
	must(t, err)
	must(t, f.replace([]byte(since)))
	_, run := resume(t, h)
	if run.State != action.StateDone || text(t, h.File) != since || run.Result.Summary != "somebody has set automatic saves since; that was left as it is" {
		t.Errorf("%s, %q: %s", run.State, run.Result.Summary, text(t, h.File))
	}
}
