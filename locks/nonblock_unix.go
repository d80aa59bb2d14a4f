//go:build unix

package locks

import "syscall"

// nonblock keeps an open from waiting for the other end of a FIFO that lies
// where a lock file should.
const nonblock = syscall.O_NONBLOCK
