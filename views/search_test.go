package views

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"castellan/palace/search"
	"castellan/theme"
	"castellan/ui/uitest"
)

func (s *site) Search(ctx context.Context, at Place, q search.Question) (search.Answer, error) {
	at.Palace = s.in(at.Palace)
	return s.Core.Search(ctx, at, q)
}

func (s *site) Measure(ctx context.Context, at Place, done func(string)) (search.Quality, error) {
	at.Palace = s.in(at.Palace)
	return s.Core.Measure(ctx, at, done)
}

func (s *stage) Search(ctx context.Context, at Place, q search.Question) (search.Answer, error) {
	if err := s.enter(ctx, at.Palace.Ref.Path); err != nil {
		return search.Answer{}, err
	}
	return s.Core.Search(ctx, at, q)
}

// measured is a core whose measurements take no time and have fixed figures.
type measured struct {
	Core
	err error
}

func (m measured) Measure(_ context.Context, _ Place, done func(string)) (search.Quality, error) {
	for _, part := range []string{"vectors", search.Exact, search.Stored, search.Graph} {
		done(part)
	}
	return search.Quality{
		Collection: "mempalace_drawers", Dimension: 8, Space: "cosine", Drawers: 2395, Loaded: 2395, Kernel: "AVX-512", Nearest: 10,
		Engines: []search.Measured{
			{Name: search.Exact, Recall: 1, Questions: 100, Median: 95 * time.Microsecond, Slow: 180 * time.Microsecond, Build: 240 * time.Millisecond, Vectors: 2395},
			{Name: search.Stored, Recall: 0.9989, Questions: 100, Median: 60 * time.Microsecond, Slow: 110 * time.Microsecond, Build: 35 * time.Millisecond, Vectors: 2395},
			{Name: search.Graph, Recall: 0.242, Questions: 100, Median: 1700 * time.Microsecond, Slow: 2200 * time.Microsecond, Build: 5400 * time.Millisecond, Vectors: 2000,
				Refused: (&search.RecallError{Recall: 0.242, Questions: 100}).Error()},
		},
		Index: &search.IndexShape{Elements: 2435, Tombstones: 40, Levels: []int{2435, 151, 9}, MinDegree: 5, MaxDegree: 32, MostDegree: 32, MeanDegree: 21.4, Unreachable: 1},
	}, m.err
}

func TestFramesOfTheSearch(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy", "synced")
	ask := func(words, keys string) func(*driver) {
		return func(d *driver) {
			d.typing(words)
			d.keys("enter " + keys)
		}
	}
	play(t, site, []scene{
		{name: "search-entry", keys: "a"},
		{name: "search-unasked", keys: "a esc"},
		{name: "search-words", keys: "a", then: ask("mutex copper", "j")},
		{name: "search-read", keys: "a", then: ask("mutex copper", "enter")},
		{name: "search-wide", keys: "a", then: ask("mutex copper", "w")},
		{name: "search-nothing", keys: "a", then: ask("xyzzy", "")},
		{name: "search-like", keys: "d m"},
		{name: "search-like-stored", keys: "d m v"},
		{name: "help-search", keys: "d m ?"},
	})
	for _, sc := range []scene{
		{name: "quality-unmeasured", keys: "enter i"},
		{name: "quality", keys: "enter i enter"},
		{name: "quality-refused", keys: "enter i enter G"},
	} {
		t.Run(sc.name, func(t *testing.T) {
			uitest.Frames(t, sc.name, func(th theme.Theme, w, h int) string {
				d := newDriver(t, measured{Core: site}, th, w, h)
				d.keys(sc.keys)
				return d.frame()
			})
		})
	}
}

func TestASearchGoesFromWordsToADrawerToItsLikes(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 120, 40)
	d.keys("a")
	d.typing("mutex q ?") // letters are text
	d.keys("enter")
	d.shows("No embedding model is installed", "keyword search", "found by")
	s := d.app.top().(*searching)
	if len(s.answer.Hits) != searchResults || s.question.Words != "mutex q ?" {
		t.Fatalf("%d hits for %q", len(s.answer.Hits), s.question.Words)
	}
	id := s.table.ID()
	d.keys("m")
	like := d.app.top().(*searching)
	if like == s || like.question.Like != id || like.answer == nil || like.answer.Engine != search.Exact {
		t.Fatalf("more like it: %+v", like.question)
	}
	d.shows("more like this", "exact scan: 1,500 vectors")
	d.keys("/")
	if in := d.app.top().input(); in == nil || in.Value() != "" {
		t.Error("/ does not ask anew")
	}
	d.keys("esc q")
	if d.app.top() != s || s.table.ID() != id {
		t.Error("going back lost the place")
	}
	d.keys("/ enter") // the last question stands there
	if s.question.Words != "mutex q ?" || s.answer == nil {
		t.Error("the question was lost")
	}
}

func TestASearchStaysWithinThePlaceItWasOpenedFrom(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24)
	d.keys("enter tab enter enter a") // the drawers of a room
	where := d.app.stack[len(d.app.stack)-2].(*drawers).sel
	d.typing("copper")
	d.keys("enter")
	s := d.app.top().(*searching)
	if len(s.answer.Hits) == 0 || where.where == nil {
		t.Fatal("nothing found")
	}
	for _, h := range s.answer.Hits {
		if h.Metadata["room"] != where.name {
			t.Errorf("found %v in room %v, not %s", h.ID, h.Metadata["room"], where.name)
		}
	}
}

func TestEnginesAreAskedInTurn(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "synced"), uitest.Plain(), 120, 40)
	d.keys("d m")
	s := d.app.top().(*searching)
	for _, want := range []string{search.Stored, search.Graph, search.Keyword, search.Exact} {
		d.keys("v")
		if want == search.Graph {
			if got := s.answer.Engine; got != search.Graph && !s.answer.Degraded {
				t.Errorf("the graph was replaced by %s, and nobody is told", got)
			}
			continue
		}
		if s.answer.Engine != want {
			t.Errorf("asked %s, %s answered: %s", want, s.answer.Engine, s.answer.Reason)
		}
	}
}

func TestALateAnswerToAnOlderQuestionIsDropped(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "healthy"), uitest.Plain(), 80, 24)
	d.keys("a")
	d.typing("mutex")
	d.keys("enter")
	s := d.app.top().(*searching)
	before := d.frame()
	d.send(answerMsg{to: s, gen: s.gen - 1, answer: search.Answer{}})
	d.send(answerMsg{to: s, gen: s.gen, err: context.Canceled})
	if d.frame() != before {
		t.Errorf("a late answer is shown:\n%s", d.frame())
	}
	d.send(answerMsg{to: s, gen: s.gen, err: errors.New("the disk is gone")})
	d.shows("This is an older answer: the disk is gone")
}

func TestAFailedSearchSaysWhy(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newSite(t, "btree-damaged"), uitest.Plain(), 80, 24)
	d.keys("enter a")
	d.typing("mutex")
	d.keys("enter")
	if s, ok := d.app.top().(*searching); ok {
		if s.err == nil && s.answer == nil {
			t.Errorf("neither answer nor reason:\n%s", d.frame())
		}
	}
}

func TestAMeasurementThatFailsOrStopsSaysSo(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	d := newDriver(t, measured{site, errors.New("the disk is gone")}, uitest.Plain(), 80, 24)
	d.keys("enter i enter")
	d.shows("It could not be measured: The disk is gone.")
	d = newDriver(t, measured{site, context.Canceled}, uitest.Plain(), 80, 24)
	d.keys("enter i enter")
	d.shows("Stopped. enter measures.")
}

func TestMatchesAreMarkedWordByWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		terms []string
		want  string
	}{
		{"A Mutex, mutexes and MUTEX.", []string{"mutex"}, "A [Mutex], [mutex]es and [MUTEX]."},
		{"naïve ÉTÉ 日本語", []string{"été", "日本語"}, "naïve [ÉTÉ] [日本語]"},
		{"nothing", nil, "nothing"},
		{"", []string{"x"}, ""},
	} {
		var b strings.Builder
		for _, sp := range marked(c.text, c.terms) {
			if sp.Role == theme.Match {
				b.WriteString("[" + sp.Text + "]")
			} else {
				b.WriteString(sp.Text)
			}
		}
		if b.String() != c.want {
			t.Errorf("%q marked for %q is %q, want %q", c.text, c.terms, b.String(), c.want)
		}
	}
}

func TestAnExcerptShowsTheMatch(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("nothing to see here, ", 40) + "but the mutex is here. " + strings.Repeat("more of it ", 90)
	if got := excerpt(long, []string{"mutex"}); !strings.HasPrefix(got, "...") || !strings.Contains(got[:60], "mutex") || len(got) > previewBytes+8 {
		t.Errorf("%q", got)
	}
	if got := excerpt("short mutex", []string{"mutex"}); got != "short mutex" {
		t.Errorf("%q", got)
	}
	if got := excerpt(strings.Repeat("日本語", 60)+" mutex \x1b]52;c;aGk=\a", []string{"mutex"}); strings.ContainsAny(got, "\x1b\a") || !strings.Contains(got, "mutex") {
		t.Errorf("%q", got)
	}
}

func TestThePlainFormSearches(t *testing.T) {
	t.Parallel()
	site := newSite(t, "healthy")
	uitest.Golden(t, "plain-search.txt", plainSession(t, measured{Core: site}, "1", "1", "s", "s mutex copper", "1", "m 99", "m 2", "b", "b", "i", "q"))
}
