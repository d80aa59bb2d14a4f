package locks

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func slotIn(t *testing.T, h, digit, body string, age time.Duration) string {
	t.Helper()
	path := filepath.Join(h, ".mempalace", "hook_state", "mine_pids", "mine_"+digit+"123456789abcdef.pid")
	write(t, path, body)
	when := time.Now().Add(-age)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHookSlotsMeanWhatTheNextHookTakesThemFor(t *testing.T) {
	t.Parallel()
	alive, dead := os.Getpid(), 1<<22+1 // above every pid_max
	hourAgo := time.Now().Add(-time.Hour).Unix()
	dayAgo := time.Now().Add(-24 * time.Hour).Unix()
	for _, c := range []struct {
		name, body string
		age        time.Duration
		timeout    string
		state      SlotState
		pid        int
		since      int64 // 0: the file's time
	}{
		{"dead", fmt.Sprint(dead, " ", hourAgo), 0, "", SlotStale, dead, hourAgo},
		{"alive", fmt.Sprint(alive, " ", hourAgo), 0, "", SlotRunning, alive, hourAgo},
		{"alive with a fraction", fmt.Sprintf("%d %d.5\n", alive, hourAgo), 0, "", SlotRunning, alive, hourAgo},
		{"bare pid", fmt.Sprint(alive), time.Minute, "", SlotRunning, alive, 0},
		{"bare pid, old file", fmt.Sprint(alive), 3 * time.Hour, "", SlotStale, alive, 0},
		{"alive over its time", fmt.Sprint(alive, " ", dayAgo), 0, "", SlotStale, alive, dayAgo},
		{"alive, no limit", fmt.Sprint(alive, " ", dayAgo), 0, "0", SlotRunning, alive, dayAgo},
		{"alive, limit no number", fmt.Sprint(alive, " ", dayAgo), 0, "soon", SlotRunning, alive, dayAgo},
		{"alive, longer limit", fmt.Sprint(alive, " ", dayAgo), 0, "24.5", SlotRunning, alive, dayAgo},
		{"alive, shorter limit", fmt.Sprint(alive, " ", hourAgo), 0, "0.5", SlotStale, alive, hourAgo},
		{"just made", "", time.Second, "", SlotClaiming, 0, 0},
		{"empty for an hour", "", time.Hour, "", SlotStale, 0, 0},
		{"garbage", "\xffmine", 0, "", SlotStale, 0, 0},
		{"no time", fmt.Sprint(alive, " soon"), 0, "", SlotStale, alive, 0},
		{"too much", fmt.Sprint(alive, " ", hourAgo, " 7"), 0, "", SlotStale, alive, 0},
		{"never", fmt.Sprint(alive, " nan"), 0, "", SlotStale, alive, 0},
	} {
		h := t.TempDir()
		path := slotIn(t, h, "0", c.body, c.age)
		o := observe(h, Options{Getenv: func(string) string { return c.timeout }})
		slots, err := o.hookSlots()
		if err != nil || len(slots) != 1 {
			t.Fatalf("%s: %+v, %v", c.name, slots, err)
		}
		got := slots[0]
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		since := info.ModTime().Unix()
		if c.since != 0 {
			since = c.since
		}
		if got.Path != path || got.State != c.state || got.PID != c.pid || got.Since.Unix() != since {
			t.Errorf("%s: %+v, want %s, pid %d, since %d", c.name, got, c.state, c.pid, since)
		}
	}
}

func TestOnlySlotsAreReadFromTheSlotDirectory(t *testing.T) {
	t.Parallel()
	h := t.TempDir()
	slotIn(t, h, "0", "", 0)
	dir := filepath.Dir(slotIn(t, h, "1", "", 0))
	write(t, filepath.Join(dir, "mine_x.pid.tmp"), "1 1")
	write(t, filepath.Join(dir, "other.pid"), "1 1")
	write(t, filepath.Join(dir, "mine_directory.pid", "x"), "1 1")
	slots, err := observe(h, Options{}).hookSlots()
	if len(slots) != 2 || err == nil {
		t.Errorf("%+v, %v; want two slots and a word about the directory", slots, err)
	}
}
