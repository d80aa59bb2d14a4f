package locks

// query is what one pass over the operating system's tables looks for.
type query struct {
	dir     string   // the lock directory; "" = there is none
	names   []string // lock files of palaces, and their .want files
	sources []string // per-source lock files
	palaces []*palaceFiles
}

// sight is what the pass saw.
type sight struct {
	locks map[string]*lockSight // by name in the lock directory; held ones only
	// unlinked are held lock files that are no longer in the directory.
	unlinked map[string]*lockSight
	files    []openFile
	hidden   map[int]bool // processes whose open files could not be looked at
	reach    [][]int      // for each of query.palaces: those of hidden that could have it open
	// allHidden: no process at all could be looked at.
	allHidden bool
	gaps      []error
	blind     string // why a lock that was not seen may be held; "" = none can
}

// lockSight is one held lock.
type lockSight struct {
	takers  []int  // who took it, by the kernel's lock table; 0 = out of sight
	havers  []int  // whose descriptor carries it now
	waiters []int  // blocked on it
	doubt   string // why the table's entry may belong to another file
}

// openFile is an open file of query.palaces[palace].
type openFile struct {
	pid    int
	palace int
	OpenFile
}

func newSight() *sight {
	return &sight{locks: map[string]*lockSight{}, unlinked: map[string]*lockSight{}, hidden: map[int]bool{}}
}

// lockNamed gives the entry for a name, made when missing.
func lockNamed(in map[string]*lockSight, name string) *lockSight {
	l := in[name]
	if l == nil {
		l = &lockSight{}
		in[name] = l
	}
	return l
}

func (s *sight) isHidden(pid int) bool { return s.allHidden || s.hidden[pid] }
