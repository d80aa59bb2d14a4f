//go:build unix

package locks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (p part) play() error {
	if p.Peer != nil {
		return p.Peer.play()
	}
	var kept []*os.File
	var child int
	path, how := p.Lock, syscall.LOCK_EX|syscall.LOCK_NB
	if p.Await != "" {
		path, how = p.Await, syscall.LOCK_EX
	}
	if path != "" {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		kept = append(kept, f)
		if p.Await != "" {
			fmt.Println("ready 0") // it blocks now
		}
		if err := syscall.Flock(int(f.Fd()), how); err != nil {
			return fmt.Errorf("locking %s: %w", path, err)
		}
		if p.Body != "" {
			body := strings.Replace(p.Body, "PID", fmt.Sprint(os.Getpid()), 1)
			if _, err := f.WriteAt([]byte(body), 1); err != nil {
				return err
			}
		}
		if p.Leak || p.Share {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			heir := exec.Command(self)
			heir.Args = []string{"python3", "worker.py"}
			heir.Env = append(os.Environ(), roleVariable+`={"Linger":true}`)
			heir.Stdin, heir.ExtraFiles = os.Stdin, []*os.File{f}
			if err := heir.Start(); err != nil {
				return err
			}
			child = heir.Process.Pid
		}
	}
	for _, path := range p.Open {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		kept = append(kept, f)
	}
	if p.Survey != "" {
		return p.look()
	}
	if p.Await == "" && !p.Linger {
		fmt.Printf("ready %d\n", child)
	}
	if p.Leak {
		return nil
	}
	if p.Burn {
		go func() {
			for n := 0; ; n++ {
			}
		}()
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	for _, f := range kept {
		f.Close()
	}
	return err
}

// seen is what a part with Survey prints.
type seen struct {
	State, Why string
	PID        int
	Identity   Identity
	Command    string
	Hidden     int
	Openers    int
	Reach      []int // the hidden ones that could have the palace open
	Gaps       []string
}

func (p part) look() error {
	home, palace, _ := strings.Cut(p.Survey, "\x00")
	all, err := observe(home, Options{}).Survey(context.Background(), []Target{{Path: palace}})
	if err != nil {
		return err
	}
	v := all.Palace(palace)
	s := seen{State: string(v.Lock.State), Why: v.Lock.Why, Hidden: all.Hidden, Openers: len(v.Openers), Reach: all.reach[palace]}
	if v.Hidden != len(s.Reach) {
		return fmt.Errorf("%d processes are counted that could have the palace open: %v", v.Hidden, s.Reach)
	}
	if h := v.Lock.Holder; h != nil {
		s.PID, s.Identity, s.Command = h.PID, h.Identity, h.Command
	}
	for _, g := range v.Gaps {
		s.Gaps = append(s.Gaps, g.Error())
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}
