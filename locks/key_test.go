package locks

import (
	"path/filepath"
	"testing"
)

func TestKeysAreThoseMemPalaceComputes(t *testing.T) {
	t.Parallel()
	if got := digest("/home/u/.mempalace/palace"); got != "c77e7cd1a6f4b2f3" {
		t.Errorf("palace key %s", got)
	}
	if got := SourceKey("/home/u/p/a.md"); got != "57e7a5db2e479ac5" {
		t.Errorf("source key %s", got)
	}
	if SourceKey("/p/a.md") == SourceKey("/p/./a.md") {
		t.Error("a source's spelling was resolved; MemPalace locks it as written")
	}
}

func TestNamesInTheLockDirectory(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]nameKind{
		"mine_palace_c77e7cd1a6f4b2f3.lock":    namePalace,
		"mine_palace_c77e7cd1a6f4b2f3.want":    nameWant,
		"57e7a5db2e479ac5.lock":                nameSource,
		"57e7a5db2e479ac5.want":                nameOther,
		"57E7A5DB2E479AC5.lock":                nameOther,
		"57e7a5db2e479ac5.lock.tmp":            nameOther,
		"mine_palace_.lock":                    nameOther,
		"mine_palace_c77e7cd1a6f4b2f3":         nameOther,
		"mine_palace_c77e7cd1a6f4b2f30.lock":   nameOther,
		"":                                     nameOther,
		"mine_palace_57e7a5db2e479ac5.lock":    namePalace,
		"mine_palace_../../etc/passwd_.lock":   nameOther,
		"mine_palace_mine_palace_000000.lock":  nameOther,
		"mine_palace_57e7a5db2e479ac5.lock.rm": nameOther,
	} {
		kind, key := parseName(name)
		if kind != want {
			t.Errorf("%q is of kind %d, want %d", name, kind, want)
		}
		if (kind == nameOther) != (key == "") {
			t.Errorf("%q gave the key %q", name, key)
		}
	}
	dir := Directory("/home/u")
	if got := File(dir, "c77e7cd1a6f4b2f3"); filepath.ToSlash(got) != "/home/u/.mempalace/locks/mine_palace_c77e7cd1a6f4b2f3.lock" {
		t.Errorf("lock file %s", got)
	}
}
