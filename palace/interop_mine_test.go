//go:build interop

package palace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"castellan/locks"
	"castellan/palace/backend"
)

// embedder is a server of embeddings, so that MemPalace mines without a model.
// It can be made to wait in the middle of a mine.
type embedder struct {
	*httptest.Server
	mu    sync.Mutex
	asked chan struct{} // closed at the first question
	gate  chan struct{} // answers wait for it; nil = they do not
}

func newEmbedder(t *testing.T) *embedder {
	e := &embedder{}
	e.Server = httptest.NewServer(http.HandlerFunc(e.answer))
	t.Cleanup(e.Close)
	return e
}

// hold makes the next question wait until release is called.
func (e *embedder) hold() (asked <-chan struct{}, release func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked, e.gate = make(chan struct{}), make(chan struct{})
	gate := e.gate
	return e.asked, sync.OnceFunc(func() { close(gate) })
}

func (e *embedder) answer(w http.ResponseWriter, r *http.Request) {
	var q struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	asked, gate := e.asked, e.gate
	e.asked = nil
	e.mu.Unlock()
	if asked != nil {
		close(asked)
	}
	if gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
			return
		}
	}
	type row struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var rows []row
	for i, text := range q.Input {
		v := make([]float32, 384)
		for j := range len(text) {
			v[(j*31+int(text[j]))%384]++
		}
		rows = append(rows, row{i, v})
	}
	json.NewEncoder(w).Encode(map[string]any{"data": rows})
}

// mine runs "mempalace mine" on a project.
func (s site) mine(t *testing.T, project string) (start func() error, wait func() (stderr string, code int)) {
	t.Helper()
	cmd := python(t, s.home, "-m", "mempalace", "--palace", s.palace, "mine", project)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	return cmd.Start, func() (string, int) {
		t.Helper()
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		t.Logf("mine ended with %d: %s%s", cmd.ProcessState.ExitCode(), complaints.Bytes(), tail(out.String()))
		return complaints.String(), cmd.ProcessState.ExitCode()
	}
}

func tail(s string) string { return s[max(0, len(s)-600):] }

// ourselves is how MemPalace names this process.
func ourselves() string {
	return fmt.Sprintf("PID %d (%s)", os.Getpid(), strings.Join(os.Args[:min(3, len(os.Args))], " "))
}

func (s site) take(t *testing.T) *locks.Lease {
	t.Helper()
	l, err := locks.Take(t.Context(), locks.Target{Path: s.palace}, locks.TakeOptions{Home: s.home})
	must(t, err)
	return l
}

func TestAMineAndOurWritesKeepOutOfEachOthersWay(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	s := site{home: home, palace: filepath.Join(home, ".mempalace", "palace"), kind: backend.Chroma}
	e := newEmbedder(t)
	must(t, os.MkdirAll(filepath.Join(home, ".mempalace"), 0o700))
	config, err := json.Marshal(map[string]string{"palace_path": s.palace, "embedding_model": "openai-compat",
		"embedding_api_url": e.URL, "embedding_api_model": "counting"})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(home, ".mempalace", "config.json"), config, 0o600))
	project := filepath.Join(home, "project")
	must(t, os.MkdirAll(project, 0o700))
	file := func(name string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(project, name), []byte("# "+name+"\n"+strings.Repeat("We decided to keep the palace. ", 60)), 0o600))
	}
	file("first.md")
	must(t, os.WriteFile(filepath.Join(project, "mempalace.yaml"), []byte("wing: project\nrooms:\n  - name: general\n    description: all\n"), 0o600))

	// We hold it: the mine is refused before it touches anything.
	l := s.take(t)
	start, wait := s.mine(t, project)
	must(t, start())
	complaint, code := wait()
	if want := fmt.Sprintf("palace %s is held by %s", s.palace, ourselves()); code == 0 || !strings.Contains(complaint, want) {
		t.Errorf("exit %d, %q; want %q", code, complaint, want)
	}
	if _, err := os.Stat(filepath.Join(s.palace, "chroma.sqlite3")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the mine that was refused has made a database: %v", err)
	}
	must(t, l.Release())

	// Given back: it goes through.
	start, wait = s.mine(t, project)
	must(t, start())
	if _, code := wait(); code != 0 {
		t.Fatal("a mine of a free palace failed")
	}
	m := s.manager(t)
	p, err := m.Open(t.Context(), backend.Ref{Path: s.palace})
	must(t, err)
	w, err := p.Writer(t.Context(), drawers)
	must(t, err)
	mined, err := w.Count(t.Context(), backend.Filter{})
	must(t, err)
	if mined == 0 {
		t.Fatal("nothing was mined")
	}

	// It is in the middle of its work: we are refused, and can read.
	file("second.md")
	asked, release := e.hold()
	defer release()
	start, wait = s.mine(t, project)
	must(t, start())
	<-asked
	text := "ours"
	vector := make([]float32, 384)
	vector[0] = 1
	ours := []backend.Record{{ID: "ours", Document: &text, Embedding: vector, Metadata: backend.Metadata{"wing": "w", "room": "r"}}}
	var held *locks.HeldError
	if err := w.Upsert(t.Context(), ours); !errors.As(err, &held) {
		t.Fatalf("beside a mine: %v", err)
	}
	if held.Holder.PID == 0 || held.Holder.Identity != locks.Known || held.Holder.Role != locks.RoleMine ||
		!strings.Contains(held.Error(), fmt.Sprintf("PID %d (", held.Holder.PID)) || !strings.Contains(held.Error(), "mine "+project) {
		t.Errorf("%v, %+v", held, held.Holder)
	}
	if n, err := w.Count(t.Context(), backend.Filter{}); err != nil || n < mined {
		t.Errorf("reading beside a mine: %d, %v", n, err)
	}
	release()
	if _, code := wait(); code != 0 {
		t.Error("the mine that we tried to disturb failed")
	}
	if err := w.Upsert(t.Context(), ours); err != nil {
		t.Errorf("after the mine: %v", err)
	}
	after, err := w.Count(t.Context(), backend.Filter{})
	must(t, err)
	if after <= mined+1 {
		t.Errorf("%d drawers, %d before the second mine and our own", after, mined)
	}
	if theirs := s.ask(t); theirs.Count != after || len(theirs.Missed) > 0 {
		t.Errorf("chromadb counts %d, we %d; not found: %q", theirs.Count, after, theirs.Missed)
	}
}

func TestMemPalacesBackendsAreRefusedNamingUs(t *testing.T) {
	t.Parallel()
	for kind, name := range kindNames {
		s := newSite(t, kind)
		write := func(id string) string { return said(t, peer(t, s.home, "write", name, s.palace, drawers, id)) }
		l := s.take(t)
		want := fmt.Sprintf("refused: palace %s is held by %s; wait for it to finish or stop the holder before retrying", s.palace, ourselves())
		if got := write("refused"); got != want {
			t.Errorf("%s: MemPalace says\n%s, want\n%s", kind, got, want)
		}
		must(t, errors.Join(l.Check(t.Context()), l.Release()))
		if got := write("theirs"); got != "written" {
			t.Errorf("%s: given back, and MemPalace says %q", kind, got)
		}
		if a := s.ask(t); a.Count != 1 || a.IDs[0] != "theirs" {
			t.Errorf("%s: %+v", kind, a.IDs)
		}
	}
}
