package theme

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

func mustNew(t *testing.T, o Options) Theme {
	t.Helper()
	th, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func TestPaintingNeverChangesTheText(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		for _, p := range []termenv.Profile{termenv.TrueColor, termenv.ANSI256, termenv.ANSI, termenv.Ascii} {
			for _, bg := range []Background{UnknownBackground, DarkBackground, LightBackground} {
				th := mustNew(t, Options{Name: name, Profile: p, Background: bg, Glyphs: "unicode"})
				for r := range roleCount {
					for _, s := range []string{"", " ", "8% █░░", "漢字  x "} {
						if got := ansi.Strip(th.Paint(r, s)); got != s {
							t.Fatalf("%s/%v role %d: %q became %q", name, p, r, s, got)
						}
					}
				}
			}
		}
	}
}

func TestWithoutColourNothingIsEmitted(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{
		{Name: "none", Profile: termenv.TrueColor},
		{Name: "dark", Profile: termenv.Ascii},
		{Name: "high-contrast", Profile: termenv.Ascii},
	} {
		th := mustNew(t, o)
		if th.Colored() {
			t.Errorf("%+v says it is coloured", o)
		}
		for r := range roleCount {
			if got := th.Paint(r, "x"); got != "x" {
				t.Errorf("%+v paints role %d as %q", o, r, got)
			}
		}
	}
	if th := (Theme{}); th.Paint(Danger, "x") != "x" || th.Colored() {
		t.Error("the zero theme paints")
	}
}

// The role that must stand out has to differ from running text wherever there
// is anything to differ with.
func TestEveryColouredThemeDistinguishesWhatMatters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"auto", "light", "dark", "high-contrast"} {
		for _, p := range []termenv.Profile{termenv.TrueColor, termenv.ANSI256, termenv.ANSI} {
			th := mustNew(t, Options{Name: name, Profile: p})
			if !th.Colored() {
				t.Errorf("%s/%v does not paint", name, p)
			}
			for _, r := range []Role{Warning, Error, Danger, Selected, Focused, Match} {
				if th.Paint(r, "x") == th.Paint(Text, "x") {
					t.Errorf("%s/%v: role %d looks like text", name, p, r)
				}
			}
			if th.Paint(Error, "x") == th.Paint(Danger, "x") {
				t.Errorf("%s/%v: error and danger look alike", name, p)
			}
		}
	}
}

func TestUnknownNamesAreRefusedWithTheKnownOnes(t *testing.T) {
	t.Parallel()
	_, err := New(Options{Name: "solarized"})
	if err == nil || !strings.Contains(err.Error(), "high-contrast") {
		t.Errorf("got %v", err)
	}
	_, err = New(Options{Glyphs: "emoji"})
	if err == nil || !strings.Contains(err.Error(), "ascii") {
		t.Errorf("got %v", err)
	}
}

func TestSeveritiesAreToldInWords(t *testing.T) {
	t.Parallel()
	for _, th := range []Theme{Plain(), mustNew(t, Options{Name: "none", Glyphs: "unicode"})} {
		words, marks := map[string]bool{}, map[string]bool{}
		for s := Good; s <= Peril; s++ {
			words[s.Word()], marks[th.Mark(s)] = true, true
			if got, want := th.Badge(s), th.Mark(s)+" "+s.Word(); got != want {
				t.Errorf("badge %q, want %q", got, want)
			}
		}
		if len(words) != 5 || len(marks) != 5 {
			t.Errorf("words %v and marks %v are not all different", words, marks)
		}
	}
	if got := Plain().Badge(Warn); got != "[!] warning" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkPaint(b *testing.B) {
	th, _ := New(Options{Name: "dark", Profile: termenv.TrueColor})
	for b.Loop() {
		_ = th.Paint(Error, "176,613 missing")
	}
}
