package repair

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"castellan/locks"
	"castellan/palace/durable"
)

// journal says how far a repair has come. There is one for a palace at a time,
// and none once a repair is over.
type journal struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Palace  string    `json:"palace"`
	Started time.Time `json:"started"`
	Modes   []Mode    `json:"modes"`
	Done    []Mode    `json:"done"`
	Backup  string    `json:"backup"`
	// BackedUp says that the backup is whole and verified; before, nothing of
	// the palace is changed.
	BackedUp bool `json:"backed_up"`
	// Work is the directory inside the palace in which directories are built.
	Work string `json:"work"`
	Undo string `json:"undo"`
	// After is what the palace was after the last step that changed its rows.
	After *print `json:"after"`
}

const journalVersion = 1

// maxJournal bounds what is read before it is believed.
const maxJournal = 1 << 20

func journalPath(stateDir, key string) string {
	return filepath.Join(stateDir, "repair", key+".json")
}

// readJournal gives the journal of a repair that was cut short; nil when there
// is none.
func readJournal(stateDir, key string) (*journal, error) {
	path := journalPath(stateDir, key)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxJournal) {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it is no journal of Castellan's")}
	}
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	j := &journal{}
	if err := json.Unmarshal(raw, j); err != nil {
		return nil, fmt.Errorf("the journal of an unfinished repair, %s, cannot be read: %w; move it away, and repair again", path, err)
	}
	if j.Version != journalVersion {
		return nil, fmt.Errorf("the journal of an unfinished repair, %s, has version %d where %d is known; use the Castellan that wrote it", path, j.Version, journalVersion)
	}
	return j, nil
}

// write replaces the journal, durably.
func (j *journal) write(stateDir, key string) error {
	raw, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	path := journalPath(stateDir, key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replaceFile(path, raw)
}

func (j *journal) remove(stateDir, key string) error {
	path := journalPath(stateDir, key)
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// left are the modes that were not done.
func (j *journal) left() []Mode {
	return slices.DeleteFunc(slices.Clone(j.Modes), func(m Mode) bool { return slices.Contains(j.Done, m) })
}

// replaceFile writes a file beside and renames it, so that there is always a
// whole one.
func replaceFile(path string, content []byte) error {
	temp := path + ".tmp-" + rand.Text()
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return durable.SyncDir(filepath.Dir(path))
}

// Interrupted is a repair that was cut short.
type Interrupted struct {
	Palace  string
	Started time.Time
	Left    []Mode
	// Backup is its copy; empty when it was not complete, and nothing changed.
	Backup string
}

// Unfinished tells of repairs that were cut short. The palaces are safe to open;
// the next repair of one finishes it, and undo takes it back.
func Unfinished(stateDir string) ([]Interrupted, error) {
	list, err := os.ReadDir(filepath.Join(stateDir, "repair"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []Interrupted
	for _, e := range list {
		key, ok := cutJSON(e.Name())
		if !ok {
			continue
		}
		j, jerr := readJournal(stateDir, key)
		if jerr != nil {
			err = errors.Join(err, jerr)
			continue
		}
		if j == nil {
			continue
		}
		i := Interrupted{Palace: j.Palace, Started: j.Started, Left: j.left()}
		if j.BackedUp {
			i.Backup = j.Backup
		}
		found = append(found, i)
	}
	return found, err
}

// UnfinishedOf is the same for the palace with these lock paths; nil when none
// was cut short.
func UnfinishedOf(stateDir string, lockPaths []string) (*Interrupted, error) {
	if len(lockPaths) == 0 {
		return nil, nil
	}
	j, err := readJournal(stateDir, locks.Key(lockPaths[0]))
	if err != nil || j == nil {
		return nil, err
	}
	i := &Interrupted{Palace: j.Palace, Started: j.Started, Left: j.left()}
	if j.BackedUp {
		i.Backup = j.Backup
	}
	return i, nil
}

func cutJSON(name string) (string, bool) {
	if filepath.Ext(name) != ".json" {
		return "", false
	}
	return name[:len(name)-len(".json")], true
}
