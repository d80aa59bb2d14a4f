//go:build unix && !linux

package palace

import (
	"errors"
	"syscall"
)

func ownMounts() *syscall.SysProcAttr { return nil }

func bindMount(string, string, bool) error { return errors.ErrUnsupported }
