package action

import (
	"context"
	"time"

	"castellan/locks"
)

// Locker takes palace locks.
type Locker interface {
	// Take locks all paths or none. It waits for a held one as long as wait
	// says, or until ctx ends, and tells onWait now and then who has it. The
	// context it returns carries the lease, and release gives the lease back.
	// Where the lease can be lost, the context may end with that as its cause.
	Take(ctx context.Context, paths []string, wait time.Duration, onWait func(locks.Holder)) (release func() error, leased context.Context, err error)
}
