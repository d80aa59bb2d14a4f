package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// holderName is the hidden command that the demo starts as a second process,
// so that one palace is really held by somebody else.
const holderName = "demo-holder"

// holding is what the holder says once it has the lock.
const holding = "holding"

func (a *app) holderCommand() *cobra.Command {
	return &cobra.Command{
		Use:    holderName,
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.holdLock(cmd.Context())
		},
	}
}

// order is what the holder is told on standard input.
type order struct {
	Lock     string `json:"lock"`
	Database string `json:"database"`
}

// holdLock takes a palace lock the way MemPalace does, keeps the database open
// for reading, and lets go when standard input ends: however the demo dies,
// the kernel closes its end of the pipe.
func (a *app) holdLock(ctx context.Context) error {
	orders := json.NewDecoder(a.In)
	var o order
	if err := orders.Decode(&o); err != nil {
		return usagef("this command belongs to castellan demo: %w", err)
	}
	lock, err := os.OpenFile(o.Lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := lockExclusively(lock); err != nil {
		return fmt.Errorf("cannot lock %s: %w", o.Lock, err)
	}
	// Byte 0 is the sentinel that Windows locks; who holds it stands behind.
	identity := strconv.Itoa(os.Getpid()) + " castellan " + holderName
	if _, err := lock.WriteAt([]byte(identity), 1); err != nil {
		return err
	}
	if err := lock.Truncate(int64(1 + len(identity))); err != nil {
		return err
	}
	db, err := os.Open(o.Database)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := fmt.Fprintln(a.Out, holding); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		// Left behind on a signal: reading a pipe cannot be cancelled, and the
		// process ends at once.
		_, _ = io.Copy(io.Discard, a.In)
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// holder is the second process of the demo.
type holder struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// startHolder starts it and waits until it has the lock.
func startHolder(ctx context.Context, home string, o order) (*holder, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot start a second process: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(o.Lock), 0o700); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, holderName)
	// The name the program was started by decides what it is, where one file
	// goes by several names.
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), homeVariable()+"="+home)
	cmd.WaitDelay = 2 * time.Second
	// Whatever the child says must not reach the terminal.
	var complaint strings.Builder
	cmd.Stderr = &complaint
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start a second process: %w", err)
	}
	h := &holder{cmd: cmd, stdin: stdin}
	if err := json.NewEncoder(stdin).Encode(o); err != nil {
		return nil, errors.Join(err, h.stop())
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if strings.TrimSpace(line) != holding {
		stopErr := h.stop()
		return nil, fmt.Errorf("the second process did not take the lock: %w", errors.Join(err, stopErr, errors.New(clean(complaint.String()))))
	}
	return h, nil
}

// stop asks the holder to let go and waits until it has gone.
func (h *holder) stop() error {
	return errors.Join(h.stdin.Close(), ignoreKilled(h.cmd.Wait()))
}

// ignoreKilled drops the error of a holder that was interrupted together with
// us: letting go is all it was asked for.
func ignoreKilled(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
