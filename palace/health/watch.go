package health

import "sync"

// Watch hears of an examination while it is under way. Its functions are called
// one at a time, from other goroutines than the caller's, and must be quick.
type Watch struct {
	// Progress is told how far the reading is, some times a second.
	Progress func(Progress)
	// Finding is told each finding as it is made. The report has all of them
	// again, the worst first.
	Finding func(Finding)
}

// Progress is how far an examination is. Total may grow while more is found to
// read.
type Progress struct {
	Done, Total int64 // of work; a page of a file is one
	// Doing says in plain words what is being read.
	Doing string
}

// Share is between 0 and 1.
func (p Progress) Share() float64 {
	if p.Total <= 0 {
		return 0
	}
	return min(1, float64(p.Done)/float64(p.Total))
}

// The parts that are read side by side, in the order in which they are told.
const (
	partIndex    = "the vector index"
	partDatabase = "the database and its full-text index"
)

// meter adds up the parts for a Watch. A nil meter hears nothing.
type meter struct {
	watch Watch

	mu    sync.Mutex
	parts map[string]*[2]int64
	shown int64 // in thousandths
}

func newMeter(w Watch) *meter { return &meter{watch: w, parts: map[string]*[2]int64{}, shown: -1} }

// part says how far one part is.
func (m *meter) part(name string, done, total int64) {
	if m == nil || m.watch.Progress == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.parts[name]
	if p == nil {
		p = &[2]int64{}
		m.parts[name] = p
	}
	// Parts are told from several goroutines; none goes back.
	p[0], p[1] = max(p[0], done), max(p[1], total)
	all := Progress{}
	for _, n := range []string{partIndex, partDatabase} {
		if p := m.parts[n]; p != nil {
			all.Done, all.Total = all.Done+p[0], all.Total+p[1]
			if p[0] < p[1] && all.Doing == "" {
				all.Doing = n
			}
		}
	}
	if now := int64(1000 * all.Share()); now != m.shown {
		m.shown = now
		m.watch.Progress(all)
	}
}

// found tells findings.
func (m *meter) found(list []Finding) {
	if m == nil || m.watch.Finding == nil || len(list) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range list {
		m.watch.Finding(f)
	}
}
