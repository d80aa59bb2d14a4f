package queue

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// status is what changes about an entry. It is a file of its own, so that
// nothing ever writes to the only copy of the records.
type status struct {
	State       State  `json:"state"`
	Attempts    int    `json:"attempts"`
	LastRefusal string `json:"last_refusal,omitempty"`
}

// maxRefusal bounds the text that is kept of an error.
const maxRefusal = 1 << 10

// readStatus never fails: without a status the entry was not tried yet. One
// that cannot be read says that something was tried, and nothing of the outcome.
func (q *Queue) readStatus(name string) status {
	path := q.path(name + stateSuffix)
	lost := status{State: StateUnknown, Attempts: 1, LastRefusal: "what is known of earlier attempts cannot be read"}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return status{State: StateWaiting}
	case err != nil || !info.Mode().IsRegular() || info.Size() > 16*maxRefusal:
		return lost
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return status{State: StateWaiting}
	}
	var s status
	if err != nil || json.Unmarshal(raw, &s) != nil {
		return lost
	}
	switch s.State {
	case StateWaiting, StateSetAside, StateUnknown:
		return s
	}
	return lost
}

// writeStatus is called with the queue locked.
func (q *Queue) writeStatus(name string, s status) error {
	s.LastRefusal = clip(s.LastRefusal, maxRefusal)
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return q.place(name+stateSuffix, raw)
}
