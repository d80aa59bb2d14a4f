package locks

import (
	"errors"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return nil }

func (p part) play() error { return errors.New("no part to play here") }

func becomeTrier(peer) error { return errors.New("no program replaces itself here") }
