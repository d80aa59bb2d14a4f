package hnswlib

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// records reads link_lists.bin record by record.
type records struct {
	in    *bufio.Reader
	block int
	head  [4]byte // here, for one in next would be allocated a record
	buf   []byte
}

func newRecords(r *Reader) *records {
	size := r.files.Links.Apparent
	window := int(min(size, windowSize))
	return &records{
		in:    bufio.NewReaderSize(io.NewSectionReader(r.links, 0, size), window),
		block: int(r.header.linkBlock()),
	}
}

// next returns the lists of the next element, overwritten by the next call, or
// io.EOF where the file ends or does not go on with a record.
func (r *records) next() ([]byte, error) {
	if err := r.read(r.head[:]); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint32(r.head[:])
	if length%uint32(r.block) != 0 || length > uint32(maxLevels*r.block) {
		return nil, io.EOF
	}
	if int(length) > len(r.buf) {
		r.buf = make([]byte, length)
	}
	b := r.buf[:length]
	return b, r.read(b)
}

func (r *records) read(b []byte) error {
	_, err := io.ReadFull(r.in, b)
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return io.EOF
	}
	if err != nil {
		return fmt.Errorf("reading the links: %w", err)
	}
	return nil
}
