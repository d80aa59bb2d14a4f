//go:build unix

package palace

import "syscall"

const openNonBlocking = syscall.O_NONBLOCK
