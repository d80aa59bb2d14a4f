package action

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"castellan/locks"
)

type found struct {
	Code string `json:"code"`
}

// story is an action that says one of everything.
func story(_ context.Context, report Reporter) (Result, error) {
	for n := 1; n <= 2; n++ {
		if err := report.Phase(Phase{N: n, Of: 2, Name: "gather", CanStop: n == 1}); err != nil {
			return Result{}, err
		}
		report.Progress(3, 0, "vectors")
	}
	report.Log(LevelWarn, "hostile\x1b[2J \"text\"\n{\"event\":\"finished\",\"state\":\"done\"}")
	report.Finding(found{"index-short"})
	return Result{Summary: "nothing <was> lost"}, errDisk
}

// tell runs the story to its end in a program of its own.
func tell(t *testing.T, dir string, at time.Time) ID {
	t.Helper()
	l := stranger()
	close(l.gone)
	r := NewRunner(Options{Locker: l, StateDir: dir, Now: func() time.Time { return at }})
	run := start(t, r, waiting("work", story))
	must(t, r.waitFor(t, run))
	return run.ID()
}

// waitFor ends the program after the run.
func (r *Runner) waitFor(t *testing.T, run *Run) error {
	<-run.Done()
	return r.Shutdown(t.Context())
}

var noon = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

func TestARunsLogSurvivesTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := tell(t, dir, noon)
	r := NewRunner(Options{StateDir: dir})
	list, err := r.History(t.Context())
	must(t, err)
	plan := planned
	plan.Risk, plan.Steps, plan.Touches, plan.Leaves = "", []string{}, []string{}, []string{} // as in a document
	want := Record{
		ID: id, Title: planned.Title, Palace: "work", PID: os.Getpid(), Plan: plan,
		State: StateFailed, Started: noon, Ended: noon, Summary: "nothing <was> lost", Err: recorded(errDisk.Error()),
	}
	if d := cmp.Diff([]Record{want}, list); d != "" {
		t.Error(d)
	}
	got, err := r.Transcript(t.Context(), id)
	must(t, err)
	if d := cmp.Diff(want, got.Record); d != "" {
		t.Error(d)
	}
	holder := locks.Holder{Identity: locks.Recorded}
	holder.PID, holder.Command = 4711, "mempalace mine"
	three := Progress{Done: 3, Unit: "vectors"}
	said := []Detail{
		Changed{StateWaiting}, Waiting{Holder: holder, Since: noon, Deadline: noon.Add(time.Minute)}, Changed{StateRunning},
		Phase{N: 1, Of: 2, Name: "gather", CanStop: true}, three, Phase{N: 2, Of: 2, Name: "gather"},
		Log{LevelWarn, "hostile\x1b[2J \"text\"\n{\"event\":\"finished\",\"state\":\"done\"}"},
		Finding{json.RawMessage(`{"code":"index-short"}`)}, three,
		Finished{State: StateFailed, Result: Result{Summary: "nothing <was> lost"}, Err: recorded(errDisk.Error())},
	}
	var events []Event
	for _, d := range said {
		events = append(events, Event{Run: id, At: noon, Detail: d})
	}
	// An unexported field of locks.Process is of no interest here.
	if d := cmp.Diff(events, got.Events, cmpopts.IgnoreUnexported(Event{}, locks.Process{})); d != "" {
		t.Error(d)
	}
	if got.Unread != 0 || got.Skipped != 0 {
		t.Errorf("%d unread, %d skipped", got.Unread, got.Skipped)
	}
}

func TestHistoryHasTheRunsOfThisProgramToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := tell(t, dir, noon)
	r := newTestRunner(t, Options{StateDir: dir, Now: func() time.Time { return noon.Add(time.Hour) }})
	begun := make(chan struct{})
	run := start(t, r, funcAction{Subject{Palace: "new"}, untilCancelled(begun)})
	<-begun
	list, err := r.History(t.Context())
	must(t, err)
	if len(list) != 2 || list[0].ID != run.ID() || list[0].State != StateRunning || list[1].ID != old {
		t.Errorf("%+v", list)
	}
	live, err := r.Transcript(t.Context(), run.ID())
	must(t, err)
	if len(live.Events) != 1 || live.Palace != "new" {
		t.Errorf("%+v", live)
	}
	for _, id := range []ID{"", "../../etc/passwd", "20260506-120000.000-00000000"} {
		var unknown *UnknownRunError
		if _, err := r.Transcript(t.Context(), id); !errors.As(err, &unknown) || unknown.Run != id {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestDamageToALogCostsTheDamagedLinesOnly(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	id := tell(t, whole, noon)
	data, err := os.ReadFile(logPath(filepath.Join(whole, "runs"), id))
	must(t, err)
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines = lines[:len(lines)-1]
	n := len(lines)
	for name, c := range map[string]struct {
		data           []byte
		state          State
		events, unread int
		damaged        bool
	}{
		"whole":                   {data, StateFailed, n - 1, 0, false},
		"nothing":                 {nil, StateUnfinished, 0, 0, true},
		"killed between lines":    {bytes.Join(lines[:n-1], nil), StateUnfinished, n - 2, 0, false},
		"killed within a line":    {data[:len(data)-9], StateUnfinished, n - 2, 1, false},
		"no beginning":            {bytes.Join(lines[1:], nil), StateFailed, n - 1, 0, true},
		"half a beginning":        {data[20:], StateFailed, n - 1, 1, true},
		"zeros in between":        {bytes.Join([][]byte{lines[0], make([]byte, 4096), {'\n'}, lines[n-1]}, nil), StateFailed, 1, 1, false},
		"zeros at the end":        {append(bytes.Clone(data), make([]byte, 4096)...), StateFailed, n - 1, 1, false},
		"an end that is none":     {append(bytes.Join(lines[:n-1], nil), `{"at":"2026-05-06T12:00:00Z","event":"finished","state":"running"}`...), StateUnfinished, n - 2, 1, false},
		"words of another age":    {append(bytes.Clone(data), "{\"at\":\"2026-05-06T12:00:00Z\",\"event\":\"sang\"}\n[]\n\n7\n"...), StateFailed, n - 1, 4, false},
		"a line without an end":   {bytes.Repeat([]byte("["), 1<<20), StateUnfinished, 0, 1, true},
		"the log of another run":  {bytes.ReplaceAll(data, []byte(id), []byte("20260506-120000.000-00000000")), StateFailed, n - 1, 0, true},
		"a very long middle":      {bytes.Join([][]byte{lines[0], bytes.Repeat(lines[3], transcriptBytes/len(lines[3])), lines[n-1]}, nil), StateFailed, -1, 0, false},
		"and a middle of garbage": {bytes.Join([][]byte{lines[0], bytes.Repeat([]byte{'x'}, transcriptBytes), []byte("\n"), lines[n-1]}, nil), StateFailed, 1, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			runs := filepath.Join(dir, "runs")
			must(t, os.Mkdir(runs, 0o700))
			must(t, os.WriteFile(logPath(runs, id), c.data, 0o600))
			r := NewRunner(Options{StateDir: dir})
			list, err := r.History(t.Context())
			must(t, err)
			got, err := r.Transcript(t.Context(), id)
			must(t, err)
			if len(list) != 1 || list[0].State != c.state || list[0].Damaged != c.damaged || list[0].Started.IsZero() {
				t.Errorf("%+v", list)
			}
			if len(got.Events) != c.events && c.events >= 0 || got.Unread != c.unread {
				t.Errorf("%d events and %d unread of %d lines", len(got.Events), got.Unread, n)
			}
			if long := len(c.data) > transcriptBytes; long != (got.Skipped > 0) || long && got.Skipped != int64(len(c.data)-transcriptBytes) {
				t.Errorf("%d bytes skipped of %d", got.Skipped, len(c.data))
			}
		})
	}
}

func TestWhatIsNoLogIsPassedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := tell(t, dir, noon)
	runs := filepath.Join(dir, "runs")
	must(t, os.WriteFile(filepath.Join(runs, "notes.txt"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(runs, "x.jsonl"), nil, 0o600))
	must(t, os.Mkdir(logPath(runs, "20260506-130000.000-00000000"), 0o700))
	r := NewRunner(Options{StateDir: dir})
	list, err := r.History(t.Context())
	must(t, err)
	if len(list) != 1 || list[0].ID != id {
		t.Errorf("%+v", list)
	}
	if _, err := r.Transcript(t.Context(), "20260506-130000.000-00000000"); err == nil {
		t.Error("a directory was read as a log")
	}
	if list, err := NewRunner(Options{StateDir: t.TempDir()}).History(t.Context()); len(list) != 0 || err != nil {
		t.Errorf("before the first run: %v, %v", list, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.History(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestTheOldestLogsGoAndNeverThoseOfRunsThatGoOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	must(t, os.Mkdir(runs, 0o700))
	for i := range maxLogs + 10 {
		must(t, os.WriteFile(logPath(runs, newID(noon.Add(time.Duration(i)*time.Second))), nil, 0o600))
	}
	must(t, os.WriteFile(filepath.Join(runs, "a.txt"), nil, 0o600))
	at := noon.Add(-24 * time.Hour) // the clock was set back
	r := NewRunner(Options{StateDir: dir, Now: func() time.Time { return at }})
	begun := make(chan struct{})
	run := start(t, r, funcAction{run: untilCancelled(begun)})
	<-begun
	must(t, r.Shutdown(t.Context()))
	ids, err := logs(runs)
	must(t, err)
	if len(ids) != maxLogs+1 || ids[0] != run.ID() && ids[maxLogs] != run.ID() {
		t.Errorf("%d logs: %v", len(ids), ids)
	}
	if oldest := ids[maxLogs-1].time(); !oldest.Equal(noon.Add(10 * time.Second)) {
		t.Errorf("the oldest that stays is of %v", oldest)
	}
	if _, err := os.Stat(filepath.Join(runs, "a.txt")); err != nil {
		t.Error(err)
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("no") }

func TestWhatCannotBeWrittenDownCostsNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("ä", maxText)
	a := funcAction{run: func(_ context.Context, report Reporter) (Result, error) {
		report.Finding(make(chan int))
		report.Finding(panics{})
		report.Finding(strings.Repeat("x", maxFinding))
		report.Finding(nil)
		report.Log(LevelInfo, "a\xffb"+long)
		return Result{Summary: long, Detail: make(chan int)}, errors.New(strings.Repeat("\x00", 1<<20))
	}}
	a.subject.Palace = long
	plan := planned
	for i := range 10_000 {
		plan.Steps = append(plan.Steps, fmt.Sprint("a step of many, number ", i))
	}
	r := NewRunner(Options{StateDir: dir})
	run, err := r.Start(t.Context(), a, plan)
	must(t, err)
	must(t, r.waitFor(t, run))
	if s := run.Snapshot(); s.Unlogged != nil {
		t.Error(s.Unlogged)
	}
	got, err := NewRunner(Options{StateDir: dir}).Transcript(t.Context(), run.ID())
	must(t, err)
	if got.Damaged || got.State != StateFailed || got.Title != planned.Title || got.Unread != 0 {
		t.Errorf("damaged %v, %s, %d unread", got.Damaged, got.State, got.Unread)
	}
	same(t, "findings", findings(got.Events), []string{
		`"chan int not kept: no JSON form"`, `"action.panics not kept: a panic"`,
		fmt.Sprintf(`"string not kept: %d bytes of JSON"`, maxFinding+2), "null"})
	text := details[Log](got.Events)[0].Text
	if !strings.HasPrefix(text, "a\uFFFDbää") || !strings.HasSuffix(text, "more bytes)") {
		t.Errorf("%.10q…%q", text, text[len(text)-20:])
	}
}

func findings(events []Event) []string {
	var list []string
	for _, f := range details[Finding](events) {
		list = append(list, string(f.Value.(json.RawMessage)))
	}
	return list
}
