package locks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SlotState is what a hook's pid slot means.
type SlotState string

const (
	// SlotRunning: its process lives; further hooks for the same target skip.
	SlotRunning SlotState = "running"
	// SlotStale: its process is gone or over its time; the next hook takes it.
	SlotStale SlotState = "stale"
	// SlotClaiming: a hook has just made the file and not written it yet.
	SlotClaiming SlotState = "claiming"
)

const (
	// claimTime is how long a slot may be empty: its hook writes it in the same
	// breath, so this allows for a machine that swaps.
	claimTime = 30 * time.Second
	// mineTimeoutVariable: hours after which MemPalace gives a slot up although
	// its process lives. 0, or what is no number, means never.
	mineTimeoutVariable = "MEMPALACE_MINE_TIMEOUT_HOURS"
	mineTimeoutDefault  = 2 * time.Hour

	maxSlots = 10_000
)

// HookSlot is the pid slot of a mine that a hook started.
type HookSlot struct {
	Path    string
	PID     int // 0 = none written
	State   SlotState
	Since   time.Time // from the slot, or the file's age in the older form
	Command string    // what runs under that pid now; "" = nothing
}

// hookSlots reads ~/.mempalace/hook_state/mine_pids by MemPalace's own rules,
// so that "running" is what makes its next hook skip.
func (o *Observer) hookSlots() ([]HookSlot, error) {
	dir := filepath.Join(o.home, ".mempalace", "hook_state", "mine_pids")
	d, err := os.OpenFile(dir, os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the hooks' slots: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(maxSlots)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("listing the hooks' slots in %s: %w", dir, err)
	}
	slices.Sort(names)
	var out []HookSlot
	var gaps []error
	for _, name := range names {
		if strings.HasPrefix(name, "mine_") && strings.HasSuffix(name, ".pid") {
			switch s, err := o.hookSlot(filepath.Join(dir, name)); {
			case err == nil:
				out = append(out, s)
			case !errors.Is(err, fs.ErrNotExist): // gone since: its mine has ended
				gaps = append(gaps, err)
			}
		}
	}
	return out, errors.Join(gaps...)
}

func (o *Observer) hookSlot(path string) (HookSlot, error) {
	body, modified, err := readSlot(path)
	if err != nil {
		return HookSlot{}, err
	}
	s := HookSlot{Path: path, State: SlotStale, Since: modified}
	words := strings.Fields(body)
	if len(words) == 0 {
		if o.now().Sub(modified) < claimTime {
			s.State = SlotClaiming
		}
		return s, nil
	}
	pid, ok := parsePID(words[0])
	if !ok {
		return s, nil
	}
	s.PID = pid
	if len(words) > 1 {
		seconds, err := strconv.ParseFloat(strings.Join(words[1:], " "), 64)
		if err != nil || !(seconds >= 0 && seconds < 1e11) {
			return s, nil // MemPalace takes such a slot over, too
		}
		s.Since = time.UnixMilli(int64(seconds * 1000))
	}
	p, ok := o.process(pid)
	if !ok || p.State == "Z" {
		return s, nil
	}
	s.Command = p.Command
	if limit := o.mineTimeout(); limit == 0 || o.now().Sub(s.Since) <= limit {
		s.State = SlotRunning
	}
	return s, nil
}

func readSlot(path string) (string, time.Time, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return "", time.Time{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", time.Time{}, err
	}
	if !info.Mode().IsRegular() {
		return "", time.Time{}, fmt.Errorf("%s: not a regular file", path)
	}
	body, err := io.ReadAll(io.LimitReader(f, 256))
	return string(body), info.ModTime(), err
}

func (o *Observer) mineTimeout() time.Duration {
	raw := o.getenv(mineTimeoutVariable)
	if raw == "" {
		return mineTimeoutDefault
	}
	hours, err := strconv.ParseFloat(raw, 64)
	if err != nil || !(hours > 0 && hours < 1e6) {
		return 0
	}
	return time.Duration(hours * float64(time.Hour))
}
