package action

import (
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"time"
)

// ID names a run, also in other processes and after a restart. IDs sort by the
// time of their start.
type ID string

const idTime = "20060102-150405.000"

var idForm = regexp.MustCompile(`^\d{8}-\d{6}\.\d{3}-[0-9a-f]{8}$`)

func newID(at time.Time) ID {
	var b [4]byte
	rand.Read(b[:]) // never fails: see crypto/rand
	return ID(at.UTC().Format(idTime) + "-" + hex.EncodeToString(b[:]))
}

// valid keeps an id from naming a file elsewhere.
func (id ID) valid() bool { return idForm.MatchString(string(id)) }

// time is when the run was started; zero when the id is none.
func (id ID) time() time.Time {
	if !id.valid() {
		return time.Time{}
	}
	at, err := time.Parse(idTime, string(id[:len(idTime)]))
	if err != nil {
		return time.Time{}
	}
	return at
}
