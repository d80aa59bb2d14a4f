package cli

import (
	"testing"
	"time"

	"castellan/palace/health"
)

func TestShareIsWholeOnlyWhenItIs(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for _, tc := range []struct {
		part, whole *int64
		want        string
	}{
		{n(192_996), n(192_997), "192,996 (99%)"},
		{n(192_997), n(192_997), "192,997 (100%)"},
		{n(1), n(192_997), "1 (1%)"},
		{n(0), n(192_997), "0 (0%)"},
		{n(0), n(0), "0"},
		{nil, n(5), "?"},
		{n(5), nil, "5"},
	} {
		if got := share(tc.part, tc.whole); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestSparseFilesShowBothSizes(t *testing.T) {
	if got := size(&health.Bytes{Apparent: 20_000_000_000, Allocated: 4096}); got != "4.1 kB (claims 20 GB)" {
		t.Error(got)
	}
	if got := size(&health.Bytes{Apparent: 5_900_000, Allocated: 5_910_000}); got != "5.9 MB" {
		t.Error(got)
	}
	if got := size(nil); got != "?" {
		t.Error(got)
	}
}

func TestDurationsUseTheUnitsPeopleUse(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 59 * time.Second: "59 s", 4*time.Minute + 59*time.Second: "4 min",
		8 * time.Hour: "8 h", 90 * time.Minute: "1 h 30 min", 47 * time.Hour: "47 h", 73 * time.Hour: "3 days",
	} {
		if got := duration(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
