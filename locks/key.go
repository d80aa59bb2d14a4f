package locks

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

const (
	palacePrefix = "mine_palace_"
	lockSuffix   = ".lock"
	wantSuffix   = ".want"
	keyLength    = 16 // hexadecimal digits of a key
)

// Key is the key under which MemPalace locks the palace at path: the first 16
// lower-case hexadecimal digits of SHA-256 over
// normcase(realpath(expanduser(path))). A leading "~" is read with HOME, a
// relative path from the working directory.
//
// Python raises UnicodeEncodeError for a path that is not valid UTF-8, so
// MemPalace itself cannot lock such a palace; here its raw bytes are hashed,
// which gives it a stable key that no Python writer can share.
func Key(path string) string {
	return digest(Resolve(path, os.Getenv(homeVariable)))
}

// SourceKey is the key of the lock around one source file: the same digest
// over the source exactly as the drawers' metadata has it. Nothing is
// resolved, so two spellings of one file are two locks, as in MemPalace.
func SourceKey(source string) string { return digest(source) }

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:keyLength]
}

// Directory is where MemPalace keeps its lock files below a home directory.
// It is a name only: nothing is created, because MemPalace's hooks take a
// missing ~/.mempalace as the order to stay idle.
func Directory(home string) string {
	return filepath.Join(home, ".mempalace", "locks")
}

// File is the lock file of the palace with this key, inside a lock directory.
func File(directory, key string) string {
	return filepath.Join(directory, palacePrefix+key+lockSuffix)
}

// nameKind says what a name in the lock directory stands for.
type nameKind int

const (
	nameOther  nameKind = iota
	namePalace          // mine_palace_<key>.lock
	nameWant            // mine_palace_<key>.want: held by a writer that queues
	nameSource          // <key>.lock
)

// parseName tells the kinds of lock files apart and gives the key in the name.
func parseName(name string) (nameKind, string) {
	kind := nameSource
	rest, isPalace := strings.CutPrefix(name, palacePrefix)
	if isPalace {
		kind = namePalace
	}
	key, ok := strings.CutSuffix(rest, lockSuffix)
	if !ok && isPalace {
		kind = nameWant
		key, ok = strings.CutSuffix(rest, wantSuffix)
	}
	if !ok || !isKey(key) {
		return nameOther, ""
	}
	return kind, key
}

func isKey(s string) bool {
	if len(s) != keyLength {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
