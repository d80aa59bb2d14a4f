package closing

import (
	"errors"
	"fmt"
	"syscall"
)

// grip does not exist here: Windows has no signal by which a process without a
// console is asked to end, and TerminateProcess gives it no chance to finish.
type grip struct{}

func openGrip(int) (grip, error) {
	return grip{}, fmt.Errorf("Windows has no signal that asks a process to end: %w", errors.ErrUnsupported)
}

func (grip) signal(syscall.Signal) error { return errors.ErrUnsupported }
func (grip) reachable() error            { return errors.ErrUnsupported }
func (grip) exited() bool                { return false }
func (grip) close() error                { return nil }
