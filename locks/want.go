package locks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The lock is polled: a blocking flock could not be cancelled, and its thread
// would be lost for as long as an idle MCP server holds the palace.
const (
	firstPause = 2 * time.Millisecond
	lastPause  = 200 * time.Millisecond
	// noticeable is how long a wait lasts before anybody is told. Most holders
	// write a single batch, and looking for them costs more than that.
	noticeable = 100 * time.Millisecond
	lookAgain  = time.Second
)

// wait takes the palace as soon as it is free, and for as long as opt.Wait.
//
// Nothing is held between two tries: somebody who waited with one of two keys
// in hand would refuse the palace to others without having it.
func (t *taking) wait(ctx context.Context, opt TakeOptions) error {
	deadline := time.Now().Add(opt.Wait)
	tell := time.Now().Add(noticeable)
	var want demand
	defer want.lower()
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		key, err := t.try()
		if !errors.Is(err, errBusy) {
			return err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return t.now(ctx)
		}
		want.raise(wantFile(t.dir, key))
		if opt.OnWait != nil && !time.Now().Before(tell) {
			refused, free, err := t.refusal(ctx, key)
			if err != nil {
				return err
			}
			if !free {
				opt.OnWait(refused.Holder)
				tell = time.Now().Add(lookAgain)
			}
		}
		if err := sleep(ctx, min(pause, left)); err != nil {
			return fmt.Errorf("waiting for palace %s: %w", clean(t.palace), err)
		}
	}
}

// wantFile is the file whose lock says that somebody waits for the palace.
func wantFile(dir, key string) string {
	return strings.TrimSuffix(File(dir, key), lockSuffix) + wantSuffix
}

// demand is the lock on a .want file. A holder that can hand the palace over
// looks for it (MemPalace #2131); to everybody else it does nothing. It is a
// courtesy, so a failure to announce a wait does not end the wait.
type demand struct {
	path string
	file *openLock // nil = not announced
}

// raise announces the wait for one key and takes back that for another one. It
// is called at each poll: the file may have been busy because another writer
// queues, or only for the moment in which a holder probed it.
func (d *demand) raise(path string) {
	if d.path != path {
		d.lower()
		d.path = path
	}
	if d.file != nil {
		return
	}
	if f, err := grab(path); err == nil {
		f.sign(ownIdentity())
		d.file = f
	}
}

func (d *demand) lower() {
	if d.file != nil {
		_ = d.file.drop() // closed in any case
		d.file = nil
	}
}

// sleep waits for d or the end of ctx, whose error it answers.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
