package chroma

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"castellan/palace/dbfile"
)

// An idSet is record numbers (embeddings.id) in order. SQLite hands them over
// as one text, since a row of its own for each costs several times what finding
// it does.
type idSet []int64

// parseIDs reads what group_concat wrote; the order is not its promise.
func parseIDs(list any) (idSet, error) {
	var s string
	switch v := list.(type) {
	case nil:
		return nil, nil
	case int64:
		return idSet{v}, nil
	case string:
		s = v
	case []byte:
		s = unsafe.String(unsafe.SliceData(v), len(v))
	default:
		return nil, fmt.Errorf("a list of record numbers came as %T", list)
	}
	set := make(idSet, 0, strings.Count(s, ",")+1)
	for s != "" {
		var field string
		field, s, _ = strings.Cut(s, ",")
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("a list of record numbers: %w", err)
		}
		set = append(set, n)
	}
	if !slices.IsSorted(set) {
		slices.Sort(set)
	}
	return set, nil
}

// json is the set for json_each: one bound value, however many numbers.
func (s idSet) json() string {
	b := make([]byte, 0, 2+8*len(s))
	b = append(b, '[')
	for i, n := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(append(b, ']'))
}

// after is the part behind a number.
func (s idSet) after(n int64) idSet {
	i, found := slices.BinarySearch(s, n)
	if found {
		i++
	}
	return s[i:]
}

func (s idSet) has(n int64) bool {
	if len(s) == 0 || n < s[0] || n > s[len(s)-1] {
		return false
	}
	if s[len(s)-1]-s[0] == int64(len(s)-1) {
		return true // no gaps
	}
	_, found := slices.BinarySearch(s, n)
	return found
}

// stamp is one state of the database. The file's own stamp has the grain of
// the file system's clock, so the numbers that move with every write of the
// engine stand beside it.
type stamp struct {
	file                       dbfile.Stamp
	queueTop, position, record int64
}

// setCache keeps what a few filters let through, so that paging through
// 25,000 drawers of a wing finds them once.
type setCache struct {
	mu   sync.Mutex
	sets []cachedSet // the most recently used last
}

type cachedSet struct {
	key   string
	stamp stamp
	ids   idSet
}

// keptSets bounds the cache: 200,000 numbers take 1.6 MB.
const keptSets = 4

func (c *setCache) get(key string, s stamp) (idSet, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.sets, func(e cachedSet) bool { return e.key == key })
	if i < 0 {
		return nil, false
	}
	found := c.sets[i]
	c.sets = slices.Delete(c.sets, i, i+1)
	if found.stamp != s {
		return nil, false
	}
	c.sets = append(c.sets, found)
	return found.ids, true
}

func (c *setCache) put(key string, s stamp, ids idSet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets = slices.DeleteFunc(c.sets, func(e cachedSet) bool { return e.key == key })
	if len(c.sets) == keptSets {
		c.sets = slices.Delete(c.sets, 0, 1)
	}
	c.sets = append(c.sets, cachedSet{key, s, ids})
}
