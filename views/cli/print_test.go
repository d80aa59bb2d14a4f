package cli

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"castellan/palace"
	"castellan/palace/backend"
	"castellan/palace/health"
)

// printed is what a printer writes, at a width.
func printed(width int, print func(*app)) string {
	var buf bytes.Buffer
	a := &app{out: bufio.NewWriter(&buf), width: width, log: slog.New(slog.DiscardHandler), now: time.Now}
	a.Err = io.Discard
	print(a)
	_ = a.out.Flush() // a bytes.Buffer takes everything
	return buf.String()
}

// fill sets every text, pointer, list and map below v, so that a printer meets
// all there can be.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 20, 20))
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, text)
		fill(elem, text)
		v.SetMapIndex(key, elem)
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf([]any{text, []string{text}, map[string]any{text: text}}))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(f, text)
			}
		}
	}
}

func TestHostileTextNeverReachesTheTerminal(t *testing.T) {
	const hostile = "x\x1b[31m\x1b]0;owned\a\u202e\u009b2J\r\n\x00y\xff"
	var report health.Report
	var locks lockDocument
	var rows []palaceRow
	var notes []palace.Note
	for _, v := range []any{&report, &locks, &rows, &notes} {
		fill(reflect.ValueOf(v).Elem(), hostile)
	}
	report.Palace.State, report.Lock.State = health.OK, "held"
	for i := range locks.PalaceLocks {
		locks.PalaceLocks[i].State = "held"
	}
	meta := backend.Metadata{hostile: hostile, "wing": hostile, "room": []string{hostile}, "source_file": hostile, "filed_at": hostile}
	doc := hostile
	drawers := drawerDocument{Collection: hostile, Total: 9, Next: &doc, Rows: []drawerRow{
		newDrawerRow(backend.Record{ID: hostile, Document: &doc, Metadata: meta}, false),
		newDrawerRow(backend.Record{ID: hostile, Document: &doc, Metadata: meta}, true),
	}}
	for _, width := range []int{0, 80, 20} {
		out := printed(width, func(a *app) {
			a.printReport(&report)
			a.printFindings(report.Findings, everything)
			a.printFindings(report.Findings, brief)
			a.printLocks(locks)
			a.printPalaces(rows, notes)
			a.printDrawers(drawers, true)
		})
		for _, r := range out {
			if r != '\n' && (unicode.IsControl(r) || isReordering(r)) {
				t.Fatalf("width %d: %U reaches the terminal:\n%q", width, r, out)
			}
		}
		if !strings.Contains(out, "x") {
			t.Fatal("nothing was printed")
		}
	}
}

func TestWhatCouldNotBeReadIsNotShownAsZero(t *testing.T) {
	none, empty := (*string)(nil), ""
	r := &health.Report{
		Palace:      health.Palace{Path: "/p", Backend: "chroma", State: health.OK},
		Collections: []health.Collection{{Name: "c", Index: &health.Index{State: health.IndexDamaged}, Wings: []health.Wing{{Name: none, Rows: 3}, {Name: &empty, Rows: 2}}}},
		Lock:        health.Lock{State: "unknown"},
	}
	out := printed(0, func(a *app) { a.printReport(r) })
	line := ""
	for l := range strings.Lines(out) {
		if strings.HasPrefix(l, "c ") {
			line = l
		}
	}
	if got := strings.Join(strings.Fields(line), " "); got != "c ? ? ? ? ? ? damaged" {
		t.Errorf("got %q", got)
	}
	for _, want := range []string{"(none recorded)", "(an empty name)", "not known"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "free") {
		t.Errorf("an unknown lock is called free:\n%s", out)
	}
}

func TestManyWingsAddUp(t *testing.T) {
	var wings []health.Wing
	for i := range 40 {
		name := strings.Repeat("w", i+1)
		wings = append(wings, health.Wing{Name: &name, Rows: int64(i + 1)})
	}
	out := printed(0, func(a *app) { a.printWings([]health.Collection{{Name: "c", Wings: wings}}) })
	// 40+39+...+29 are shown one by one, 28+...+1 = 406 in one line.
	if lines := strings.Count(out, "\n"); lines != wingsShown+3 || !strings.Contains(out, "and 28 more wings") || !strings.Contains(out, "406") {
		t.Errorf("%d lines:\n%s", lines, out)
	}
}
