package action

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestThePlansDocumentHasEveryKeyAndNullForWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	needed, free := int64(3<<20), int64(0)
	full := Plan{
		Title: "Delete a wing", Mode: "wing", Reason: "asked for",
		Steps: []string{"back up", "delete"}, Touches: []string{"drawers"}, Leaves: []string{"closets"},
		Backup: "/b", BytesNeeded: &needed, BytesFree: &free, Estimate: 1500 * time.Millisecond,
		Risk: RiskDestructive, TypedName: "work",
		Refusal: &RefusedError{Kind: "disk-low", Reason: "full", Subject: "/p", Next: "make room", Err: fs.ErrInvalid},
	}
	for _, c := range []struct {
		plan Plan
		want string
	}{
		{Plan{}, `{"mode":"","reason":"","steps":[],"touches":[],"leaves":[],"backup":null,"bytes_needed":null,"bytes_free":null,"seconds_estimate":null,"refusal":null}`},
		{full, `{"mode":"wing","reason":"asked for","steps":["back up","delete"],"touches":["drawers"],"leaves":["closets"],"backup":"/b",` +
			`"bytes_needed":3145728,"bytes_free":0,"seconds_estimate":1.5,"refusal":{"kind":"disk-low","message":"full","subject":"/p","next":"make room"}}`},
	} {
		got, err := json.Marshal(c.plan)
		must(t, err)
		if d := cmp.Diff(c.want, string(got)); d != "" {
			t.Error(d)
		}
	}
	data, err := json.Marshal(&full)
	must(t, err)
	var back Plan
	must(t, json.Unmarshal(data, &back))
	full.Title, full.Risk, full.TypedName, full.Refusal.Err = "", "", "", nil
	if d := cmp.Diff(full, back); d != "" {
		t.Error(d)
	}
}

func TestARefusedOrHalfMadePlanCannotBeStarted(t *testing.T) {
	t.Parallel()
	r := newTestRunner(t, Options{})
	refusal := &RefusedError{Kind: "lock-held", Reason: "PID 7 has it", Next: "castellan close /p", Err: fs.ErrPermission}
	for name, plan := range map[string]Plan{
		"refused":                  {Risk: RiskNone, Refusal: refusal},
		"no risk named":            {},
		"a risk nobody knows":      {Risk: "some"},
		"nothing to type":          {Risk: RiskDestructive},
		"a name and no destroying": {Risk: RiskReversible, TypedName: "work"},
	} {
		_, err := r.Start(t.Context(), funcAction{run: neverRun(t)}, plan)
		var refused *RefusedError
		if err == nil || errors.As(err, &refused) != (plan.Refusal != nil) || plan.Refusal != nil && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(r.Runs()) != 0 {
		t.Errorf("%v", r.Runs())
	}
	run, err := r.Start(t.Context(), funcAction{run: func(context.Context, Reporter) (Result, error) { return Result{}, nil }}, Plan{Risk: RiskDestructive, TypedName: "work"})
	must(t, err)
	theEnd(t, run, hear(t, run))
}
