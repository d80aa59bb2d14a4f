package palace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"castellan/locks"
	"castellan/palace/backend"
)

// Filed is what a writer believes to be in the palace at last: document by id.
type Filed map[string]string

// Crowd is a second program that writes to a palace for a while: records of its
// own, which it changes and deletes again, and one that all writers share.
type Crowd struct {
	Home, Palace, Collection string
	Name                     string // begins its ids; different for each writer
	Milliseconds             int
	Dimension                int
	Reopen                   bool // open and close the palace for each batch
}

// Shared is the one record that every writer of a crowd writes.
const Shared = "shared"

func (c Crowd) play(ctx context.Context) error {
	filed, err := c.Write(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(filed)
}

// Write does the work of a Crowd in this process.
func (c Crowd) Write(ctx context.Context) (filed Filed, err error) {
	m := NewManager(Options{Home: c.Home, WorkDir: c.Home, Env: func(string) string { return "" }, LockWait: 5 * time.Minute,
		Watch: locks.NewObserver(locks.Options{Home: c.Home, SampleInterval: -1})})
	defer func() { err = errors.Join(err, m.Close()) }()
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(len(c.Name))))
	filed = Filed{}
	var mine []string
	for batch, end := 0, time.Now().Add(time.Duration(c.Milliseconds)*time.Millisecond); batch == 0 || time.Now().Before(end); batch++ {
		p, err := m.Open(ctx, backend.Ref{Path: c.Palace})
		if err != nil {
			return nil, err
		}
		w, err := p.Writer(ctx, c.Collection)
		if err != nil {
			return nil, err
		}
		if mine, err = c.batch(ctx, w, r, batch, mine, filed); err != nil {
			return nil, fmt.Errorf("%s, batch %d: %w", c.Name, batch, err)
		}
		if c.Reopen {
			if err := p.Close(); err != nil {
				return nil, err
			}
		}
		time.Sleep(10 * time.Millisecond) // others poll for the lock, and would hardly ever find it free
	}
	return filed, nil
}

// batch adds ten records, changes three, deletes two, and writes the shared one.
func (c Crowd) batch(ctx context.Context, w backend.Writer, r *rand.Rand, batch int, mine []string, filed Filed) ([]string, error) {
	put := func(list []backend.Record, id string) []backend.Record {
		text := fmt.Sprintf("%s as %s wrote it in batch %d", id, c.Name, batch)
		vector := make([]float32, c.Dimension)
		for i := range vector {
			vector[i] = float32(r.NormFloat64())
		}
		if id != Shared {
			filed[id] = text
		}
		return append(list, backend.Record{ID: id, Document: &text, Embedding: vector,
			Metadata: backend.Metadata{"wing": c.Name, "room": "crowd", "batch": int64(batch)}})
	}
	var list []backend.Record
	for i := range 10 {
		id := fmt.Sprint(c.Name, "-", batch, "-", i)
		mine = append(mine, id)
		list = put(list, id)
	}
	list = put(list, Shared)
	if err := w.Upsert(ctx, list); err != nil {
		return nil, err
	}
	list = nil
	r.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
	for _, id := range mine[:3] {
		list = put(list, id)
	}
	if err := w.Upsert(ctx, list); err != nil {
		return nil, err
	}
	gone := mine[len(mine)-2:]
	n, err := w.Delete(ctx, backend.Filter{IDs: gone})
	if err != nil {
		return nil, err
	}
	if n != 2 {
		return nil, fmt.Errorf("%d of 2 own records were there to be deleted", n)
	}
	for _, id := range gone {
		delete(filed, id)
	}
	return mine[:len(mine)-2], nil
}

// Start runs the crowd's program in a process of its own. The answer waits for
// its end.
func (c Crowd) Start(t testing.TB) func() (Filed, error) {
	t.Helper()
	raw, err := json.Marshal(peer{Crowd: &c})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), peerVariable+"="+string(raw))
	return StartWriter(t, cmd)
}

// StartWriter starts a program that writes and prints what it has filed.
func StartWriter(t testing.TB, cmd *exec.Cmd) func() (Filed, error) {
	t.Helper()
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(&complaints, os.Stderr)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() (filed Filed, err error) {
		if err := cmd.Wait(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, complaints.Bytes())
		}
		if err := json.Unmarshal(out.Bytes(), &filed); err != nil {
			return nil, fmt.Errorf("%w: %.200q", err, out.Bytes())
		}
		return filed, nil
	}
}

// Compare holds what a palace answers against what all writers have filed.
func (f Filed) Compare(t testing.TB, who string, got Filed) {
	t.Helper()
	wrong := 0
	for id, text := range f {
		if now, ok := got[id]; !ok || now != text {
			if wrong++; wrong < 4 {
				t.Errorf("%s: %s is %q (there: %v), %q was filed last", who, id, now, ok, text)
			}
		}
	}
	for id := range got {
		if _, ok := f[id]; !ok && id != Shared {
			if wrong++; wrong < 8 {
				t.Errorf("%s: %s is there, and was deleted or never filed", who, id)
			}
		}
	}
	if got[Shared] == "" {
		wrong++
		t.Errorf("%s: the shared record is lost", who)
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d records are wrong", who, wrong, len(f))
	}
}
