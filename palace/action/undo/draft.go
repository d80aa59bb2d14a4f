package undo

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"castellan/palace/durable"
)

// Draft is an entry that is being written. It is no entry before Commit, and
// whoever began it calls Commit or Discard.
type Draft struct {
	s     *Store
	id    string
	temp  string
	m     manifest
	open  *payload
	ended bool
}

// Begin starts an entry under an id that NewID gave. What killed programs left
// half written is tidied away: the palace's lease says that nobody is at it.
func (s *Store) Begin(id string, kind Kind, palace, title string) (*Draft, error) {
	if _, ok := number(id); !ok {
		return nil, fmt.Errorf("%q is no name for an undo record", id)
	}
	if err := durable.MakeDirs(s.dir, nil); err != nil {
		return nil, s.broken(err)
	}
	if err := s.tidy(); err != nil {
		return nil, s.broken(err)
	}
	temp := filepath.Join(s.dir, tempPrefix+rand.Text())
	s.at("begin")
	if err := os.Mkdir(temp, 0o700); err != nil {
		return nil, s.broken(err)
	}
	return &Draft{s: s, id: id, temp: temp, m: manifest{Version: version, Kind: kind, Palace: palace, At: s.o.Now().UTC(), Title: title}}, nil
}

// Create adds a file. It is on the disk when its Close has answered without an
// error; one file is written at a time.
func (d *Draft) Create(name string) (io.WriteCloser, error) {
	taken := slices.ContainsFunc(d.m.Files, func(f File) bool { return f.Name == name })
	if !fileForm.MatchString(name) || taken || slices.Contains([]string{entryFile, outcomeFile, undoneFile}, name) || d.open != nil || d.ended {
		return nil, fmt.Errorf("an undo record cannot get a file %q; this is a defect of Castellan, please report it", name)
	}
	d.s.at("create")
	f, err := os.OpenFile(filepath.Join(d.temp, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, d.s.broken(err)
	}
	d.open = &payload{d: d, f: f, b: bufio.NewWriterSize(f, 256<<10), sum: sha256.New(), name: name}
	return d.open, nil
}

// payload counts and hashes what passes.
type payload struct {
	d     *Draft
	f     *os.File
	b     *bufio.Writer
	sum   hash.Hash
	name  string
	bytes int64
}

func (p *payload) Write(b []byte) (int, error) {
	n, err := p.b.Write(b)
	p.sum.Write(b[:n])
	p.bytes += int64(n)
	return n, p.d.s.broken(err)
}

func (p *payload) Close() error {
	err := p.b.Flush()
	if err == nil {
		p.d.s.at("sync payload")
		err = p.f.Sync()
	}
	p.d.open = nil
	if err = errors.Join(err, p.f.Close()); err != nil {
		return p.d.s.broken(err)
	}
	p.d.m.Files = append(p.d.m.Files, File{Name: p.name, Bytes: p.bytes, SHA256: hex.EncodeToString(p.sum.Sum(nil))})
	return nil
}

// Commit makes the draft an entry. When it has answered without an error the
// entry is on the disk, and older ones beyond the bounds are gone.
func (d *Draft) Commit(summary string) (Entry, error) {
	if d.open != nil || d.ended {
		return Entry{}, errors.New("an undo record is committed once, with its files closed; this is a defect of Castellan, please report it")
	}
	d.m.Summary = summary
	raw, err := json.Marshal(d.m)
	if err != nil {
		return Entry{}, err
	}
	if len(raw) > maxNote {
		return Entry{}, d.s.broken(errors.New("the names in its description are too long"))
	}
	if err := d.s.write(filepath.Join(d.temp, entryFile), raw); err != nil {
		return Entry{}, d.s.broken(err)
	}
	d.s.at("sync draft")
	if err := durable.SyncDir(d.temp); err != nil {
		return Entry{}, d.s.broken(err)
	}
	// POSIX renames a directory over an empty one, and over no other.
	if _, err := os.Lstat(d.s.Path(d.id)); err == nil {
		return Entry{}, d.s.broken(&fs.PathError{Op: "rename", Path: d.s.Path(d.id), Err: fs.ErrExist})
	}
	d.s.at("rename")
	if err := os.Rename(d.temp, d.s.Path(d.id)); err != nil {
		return Entry{}, d.s.broken(err)
	}
	d.ended = true
	d.s.at("sync directory")
	if err := durable.SyncDir(d.s.dir); err != nil {
		return Entry{}, d.s.broken(err)
	}
	if err := d.s.prune(); err != nil {
		return Entry{}, err
	}
	return d.s.read(d.id)
}

// Discard removes a draft that was not committed.
func (d *Draft) Discard() error {
	if d.ended {
		return nil
	}
	d.ended = true
	var err error
	if d.open != nil {
		err = d.open.f.Close()
	}
	return d.s.broken(errors.Join(err, os.RemoveAll(d.temp)))
}

// Open reads a file of an entry, from its beginning, once all of it was held
// against its checksum: half a damaged record must not be put back.
func (s *Store) Open(e Entry, name string) (io.ReadCloser, error) {
	want, ok := e.find(name)
	if !ok {
		return nil, &DamagedError{Path: s.Path(e.ID), Reason: fmt.Sprintf("it has no file %q", name)}
	}
	path := filepath.Join(s.Path(e.ID), name)
	damaged := func(reason string, err error) error { return &DamagedError{Path: path, Reason: reason, Err: err} }
	info, err := os.Lstat(path)
	if err != nil {
		return nil, damaged("a file is missing", err)
	}
	if !info.Mode().IsRegular() || info.Size() != want.Bytes {
		return nil, damaged(fmt.Sprintf("%d bytes of its %d are there", info.Size(), want.Bytes), nil)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, damaged("a file cannot be opened", err)
	}
	sum := sha256.New()
	if _, err = io.Copy(sum, f); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	switch {
	case err != nil:
		err = damaged("a file cannot be read", err)
	case hex.EncodeToString(sum.Sum(nil)) != want.SHA256:
		err = damaged("a file does not match its checksum", nil)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
