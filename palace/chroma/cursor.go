package chroma

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"castellan/palace/backend"
)

// cursor is a place behind a record. Stored records come in the order of their
// numbers, then those that wait in the queue in the order of their first
// write.
type cursor struct {
	// record is the number of the last stored record passed; once queued is
	// set, the highest number there was.
	record int64
	// queued is the first write of the last fresh record passed; 0 while the
	// stored ones last.
	queued int64
}

func (c cursor) String() string {
	s := strconv.FormatInt(c.record, 36)
	if c.queued != 0 {
		s += "." + strconv.FormatInt(c.queued, 36)
	}
	return s
}

func parseCursor(s string) (cursor, error) {
	var c cursor
	if s == "" {
		return cursor{record: math.MinInt64}, nil
	}
	record, queued, two := strings.Cut(s, ".")
	var err error
	if c.record, err = strconv.ParseInt(record, 36, 64); err == nil && two {
		c.queued, err = strconv.ParseInt(queued, 36, 64)
	}
	if err != nil {
		return c, &backend.UnsupportedFilterError{Subject: fmt.Sprintf("after %q", s), Reason: "not a place that a page of this palace ended at"}
	}
	return c, nil
}
