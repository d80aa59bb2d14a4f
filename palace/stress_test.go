package palace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"castellan/locks"
	"castellan/palace/backend"
	"castellan/palace/dbfile"
)

// stressVariable makes the stress test last, for example 10m.
const stressVariable = "CASTELLAN_STRESS"

// stress is a program that treats a palace as badly as it may: goroutines that
// open it, write, close it under each other's hands, delete it, make it again
// and read all the time, while a second such program does the same.
//
// Whoever changes something holds a lease and notes in a ledger beside the
// palace what has to be in it.
type stress struct {
	Home, Palace string
	Kind         backend.Kind
	Milliseconds int
	Workers      int
}

func (s stress) ledger() string { return filepath.Join(s.Home, "ledger.json") }

// noted are the ids that are in the palace.
func (s stress) noted() (ids []string, err error) {
	raw, err := os.ReadFile(s.ledger())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ids, json.Unmarshal(raw, &ids)
}

func (s stress) note(ids []string) error {
	raw, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return os.WriteFile(s.ledger(), raw, 0o600)
}

// deeds counts what was done, so that a test that did nothing shows.
type deeds struct{ read, wrote, removed, made, closed atomic.Int64 }

func (d *deeds) String() string {
	return fmt.Sprintf("%d reads, %d writes, %d times deleted, %d made, %d closed",
		d.read.Load(), d.wrote.Load(), d.removed.Load(), d.made.Load(), d.closed.Load())
}

func (s stress) play(ctx context.Context) error {
	d, err := s.run(ctx)
	fmt.Println(d)
	return err
}

func (s stress) run(ctx context.Context) (d *deeds, err error) {
	d = &deeds{}
	newManager := func() *Manager {
		return NewManager(Options{Home: s.Home, WorkDir: s.Home, Env: func(string) string { return "" }, LockWait: time.Minute,
			Watch: locks.NewObserver(locks.Options{Home: s.Home, SampleInterval: -1})})
	}
	// Two managers are two handles of one process on one palace.
	managers := []*Manager{newManager(), newManager()}
	end := time.Now().Add(time.Duration(s.Milliseconds) * time.Millisecond)
	errs := make([]error, s.Workers)
	var all sync.WaitGroup
	for i := range s.Workers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(i)))
			for n := 0; errs[i] == nil && (n < 8 || time.Now().Before(end)); n++ {
				errs[i] = s.act(ctx, managers[i%2], r, d)
			}
		})
	}
	all.Wait()
	for _, m := range managers {
		errs = append(errs, m.Close())
	}
	return d, errors.Join(errs...)
}

func (s stress) act(ctx context.Context, m *Manager, r *rand.Rand, d *deeds) error {
	target := locks.Target{Path: s.Palace}
	alone := func(do func(context.Context) error) error {
		return locks.Do(ctx, target, locks.TakeOptions{Home: s.Home, Wait: 2 * time.Minute}, do)
	}
	switch n := r.IntN(12); {
	case n < 6:
		return s.look(ctx, m, d)
	case n < 8:
		p, err := m.Open(ctx, backend.Ref{Path: s.Palace})
		if err != nil {
			return passing(err)
		}
		d.closed.Add(1)
		return p.Close()
	case n < 11:
		return alone(func(ctx context.Context) error { return s.change(ctx, m, r, d) })
	default:
		return alone(func(ctx context.Context) error { return s.remove(m, r, d) })
	}
}

// look reads without a lock: what it is told may be late, never strange.
func (s stress) look(ctx context.Context, m *Manager, d *deeds) error {
	p, err := m.Open(ctx, backend.Ref{Path: s.Palace})
	if err != nil {
		return passing(err)
	}
	c, err := p.Collection(ctx, "mempalace_drawers")
	if err != nil {
		return passing(err)
	}
	seen := map[string]bool{}
	err = backend.Walk(ctx, c, backend.Query{Include: backend.Documents | backend.Embeddings, Limit: 7}, func(rec backend.Record) error {
		if seen[rec.ID] {
			return fmt.Errorf("%s is there twice", rec.ID)
		}
		seen[rec.ID] = true
		if rec.Document == nil || *rec.Document != "what "+rec.ID+" says" {
			return fmt.Errorf("%s has another document: %v", rec.ID, rec.Document)
		}
		return nil
	})
	d.read.Add(1)
	return passing(err)
}

// change makes the palace if it is gone, holds it against the ledger, writes,
// and deletes a little. It has the lease: nothing may fail but what others of
// this process close under its hands.
func (s stress) change(ctx context.Context, m *Manager, r *rand.Rand, d *deeds) error {
	noted, err := s.noted()
	if err != nil {
		return err
	}
	w, err := s.writer(ctx, m, len(noted) == 0, d)
	if errors.Is(err, backend.ErrClosed) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening under the lease: %w", err)
	}
	var there []string
	err = backend.Walk(ctx, w, backend.Query{Limit: 50}, func(rec backend.Record) error {
		there = append(there, rec.ID)
		return nil
	})
	if errors.Is(err, backend.ErrClosed) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading under the lease: %w", err)
	}
	slices.Sort(there)
	if !slices.Equal(there, noted) {
		return fmt.Errorf("in the palace are %d records and in the ledger %d: %v, %v", len(there), len(noted), there, noted)
	}
	var list []backend.Record
	for i := range 1 + r.IntN(5) {
		id := fmt.Sprintf("%d-%d-%d", os.Getpid(), r.Uint64(), i)
		list = append(list, record(id, i))
		noted = append(noted, id)
	}
	if err := w.Upsert(ctx, list); errors.Is(err, backend.ErrClosed) {
		return nil // refused before it began
	} else if err != nil {
		return fmt.Errorf("writing under the lease: %w", err)
	}
	slices.Sort(noted)
	if err := s.note(noted); err != nil {
		return err
	}
	d.wrote.Add(1)
	gone := noted[r.IntN(len(noted))]
	n, err := w.Delete(ctx, backend.Filter{IDs: []string{gone}})
	if errors.Is(err, backend.ErrClosed) {
		return nil
	}
	if err != nil || n != 1 {
		return fmt.Errorf("deleting %s under the lease: %d, %w", gone, n, err)
	}
	return s.note(slices.DeleteFunc(noted, func(id string) bool { return id == gone }))
}

func (s stress) writer(ctx context.Context, m *Manager, empty bool, d *deeds) (backend.Writer, error) {
	p, err := m.Open(ctx, backend.Ref{Path: s.Palace})
	if errors.As(err, new(*NotFoundError)) && empty {
		d.made.Add(1)
		p, err = m.Create(ctx, s.Palace, s.Kind)
	}
	if err != nil {
		return nil, err
	}
	w, err := p.Writer(ctx, "mempalace_drawers")
	if errors.As(err, new(*backend.CollectionNotFoundError)) && empty {
		return p.CreateCollection(ctx, backend.NewCollection{Name: "mempalace_drawers", Embedder: "default"})
	}
	return w, err
}

// remove deletes the directory, handles of others on it or not.
func (s stress) remove(m *Manager, r *rand.Rand, d *deeds) error {
	if err := s.note(nil); err != nil {
		return err
	}
	d.removed.Add(1)
	if r.IntN(2) == 0 {
		return os.RemoveAll(s.Palace)
	}
	aside := fmt.Sprint(s.Palace, ".old-", r.Uint64())
	if err := os.Rename(s.Palace, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(aside)
}

// passing forgives what a reader without a lock may be told while others close
// and delete under its hands. Everything else is a fault: SQLite's 1032 above
// all, and whatever says that the palace is damaged.
func passing(err error) error {
	var file *dbfile.FileError
	switch {
	case err == nil, errors.Is(err, backend.ErrClosed), errors.Is(err, fs.ErrNotExist), errors.Is(err, dbfile.ErrBusy),
		errors.As(err, new(*MovedError)), errors.As(err, new(*EmptyError)), errors.As(err, new(*EmptyDatabaseError)),
		errors.As(err, new(*dbfile.StaleError)), errors.As(err, new(*backend.CollectionNotFoundError)),
		errors.As(err, &file) && file.Problem == dbfile.Empty:
		return nil
	}
	return err
}

func TestNothingIsLostOrLeftWhenEverybodyDoesEverything(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("here nobody deletes what somebody has open")
	}
	milliseconds := 1500
	if long, err := time.ParseDuration(os.Getenv(stressVariable)); err == nil {
		milliseconds = int(long.Milliseconds())
	} else if testing.Short() {
		milliseconds = 500
	}
	for _, kind := range writableKinds {
		t.Run(string(kind), func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			h := newHome(t)
			s := stress{Home: h.dir, Palace: h.path("p"), Kind: kind, Milliseconds: milliseconds, Workers: 6}
			raw, err := json.Marshal(peer{Stress: &s})
			must(t, err)
			self, err := os.Executable()
			must(t, err)
			other := exec.Command(self)
			other.Env = append(os.Environ(), peerVariable+"="+string(raw))
			other.Stderr = os.Stderr
			var out strings.Builder
			other.Stdout = &out
			must(t, other.Start())
			d, err := s.run(t.Context())
			if err := errors.Join(err, other.Wait()); err != nil {
				t.Error(err)
			}
			t.Logf("here: %v; there: %s", d, out.String())
			if d.wrote.Load() == 0 || d.read.Load() == 0 {
				t.Errorf("hardly anything was done: %v", d)
			}
			if left := descriptors(t, h.dir); len(left) > 0 {
				t.Errorf("still open: %q", left)
			}
			goleak.VerifyNone(t, before)

			// And what is there at last is what was noted.
			noted, err := s.noted()
			must(t, err)
			m := closing(t, h.manager())
			p, err := m.Open(t.Context(), backend.Ref{Path: s.Palace})
			if len(noted) == 0 && errors.As(err, new(*NotFoundError)) {
				return
			}
			must(t, err)
			if n := rows(t, p); n != int64(len(noted)) {
				t.Errorf("%d records are there at last, %d were noted", n, len(noted))
			}
		})
	}
}
