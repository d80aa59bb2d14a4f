package dbfile

import (
	"io/fs"
	"os"
)

// deserted reports a log that consists of its header, with an index beside it that nobody has open: its writer was
// killed between writing the header and the first frame. Nothing is committed there, so the main file is everything.
//
// SQLite does not see that. Without the right to write it builds the index in memory, remembers no salts for a log
// without a frame, finds other ones in the header, believes that somebody has started the log anew, and begins again:
// a hundred times, ten seconds long, before it gives up with SQLITE_PROTOCOL.
//
// If somebody does have the index open SQLite reads that, and all is well. Should somebody come after we have looked,
// then the log changes with the first commit, and whoever reads the file as immutable finds its stamp changed.
func (f *file) deserted(real string, parts sidecars) bool {
	return sizeOf(parts.wal) == walHeaderSize && parts.shm != nil && !f.held() && !f.attended(real+"-shm", parts.shm)
}

// attended asks through a descriptor that stays open as long as this process uses the database: closing it would
// drop the locks that a connection of ours has on the -shm. In doubt it answers yes.
func (f *file) attended(name string, info fs.FileInfo) bool {
	open.mu.Lock()
	defer open.mu.Unlock()
	if f.index != nil {
		if now, err := f.index.Stat(); err != nil || !os.SameFile(now, info) {
			f.parked = append(f.parked, f.index)
			f.index = nil
		}
	}
	if f.index == nil {
		shm, err := os.OpenFile(name, openFlags, 0)
		if err != nil {
			return true
		}
		f.index = shm
	}
	now, err := f.index.Stat()
	return err != nil || !os.SameFile(now, info) || attended(f.index)
}
