package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"castellan/palace/health"
	"castellan/palace/specimen"
	"castellan/views/cli"
)

// run is a command in this process, in a home of its own.
func run(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Program{Args: args, In: strings.NewReader(""), Out: &out, Err: &errs, Samples: recorded}.Run(ctx)
	return code, out.String(), errs.String()
}

// underRace is set where the race detector watches. It makes SQLite some twenty
// times slower, and no race depends on which specimen is looked at.
var underRace bool

// Whatever state a palace is in, every command answers in its promised form
// and leaves each byte, size and time as it was.
func TestEveryCommandAnswersForEverySpecimenAndChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("makes every specimen")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	all := specimen.All()
	if underRace {
		all = slices.DeleteFunc(all, func(s specimen.Sickness) bool { return s.Base != "fresh" })
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "palace")
			if err := s.Make(t.Context(), recorded, dir); err != nil {
				t.Fatal(err)
			}
			before, err := specimen.HashTree(filepath.Dir(dir))
			if err != nil {
				t.Fatal(err)
			}
			for command, codes := range map[string][]int{
				"status": {0, 3}, "doctor": {0, 3, 6}, "drawers": {0, 1, 3, 4}, "palaces": {0}, "locks": {0},
			} {
				for _, form := range []string{"--json", "--plain"} {
					code, stdout, stderr := run(t.Context(), command, form, "--palace", dir)
					if !slices.Contains(codes, code) {
						t.Errorf("%s %s: exit code %d\n%s%s", command, form, code, stdout, stderr)
					}
					if form == "--json" && !json.Valid([]byte(stdout)) {
						t.Errorf("%s: no JSON document\n%s%s", command, stdout, stderr)
					}
					if form == "--json" && (command == "status" || command == "doctor") {
						if want := promisedCode(t, command, stdout); code != want {
							t.Errorf("%s: exit code %d, its document calls for %d", command, code, want)
						}
					}
					if i := strings.IndexAny(stdout+stderr, "\x1b\x07\x7f"); i >= 0 {
						t.Errorf("%s %s: control byte in %q", command, form, stdout+stderr)
					}
				}
			}
			code, stdout, stderr := run(t.Context(), "export", "--vectors", "--palace", dir)
			if !slices.Contains([]int{0, 3, 4}, code) {
				t.Errorf("export: exit code %d: %s", code, stderr)
			}
			for line := range strings.Lines(stdout) {
				if !json.Valid([]byte(line)) {
					t.Fatalf("export: no JSON: %q", line)
				}
			}
			after, err := specimen.HashTree(filepath.Dir(dir))
			if err != nil {
				t.Fatal(err)
			}
			for _, change := range specimen.Diff(before, after) {
				t.Error(change)
			}
		})
	}
}

// promisedCode is the exit code that goes with a report.
func promisedCode(t *testing.T, command, document string) int {
	t.Helper()
	var r health.Report
	if err := json.Unmarshal([]byte(document), &r); err != nil {
		t.Fatal(err)
	}
	switch {
	case r.Palace.State == health.Missing || r.Palace.State == health.Unreadable:
		if r.Error == nil {
			t.Errorf("%s: state %s without an error", command, r.Palace.State)
		}
		return 3
	case command == "doctor" && (r.Verdict == health.VerdictError || r.Verdict == health.VerdictDanger):
		return 6
	}
	return 0
}
