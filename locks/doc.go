// Package locks tells who holds and who uses a MemPalace palace, by looking
// only: it takes no lock, tries none, signals nobody, and creates, changes or
// removes no file. It knows nothing of what a palace contains and can be used
// on its own.
//
//	o := locks.NewObserver(locks.Options{})
//	v, err := o.Palace(ctx, locks.Target{Path: "/home/u/.mempalace/palace"})
//	if err != nil {
//		return err // ctx ended
//	}
//	switch v.Lock.State {
//	case locks.Held:
//		fmt.Println("held by", v.Lock.Holder.PID, v.Lock.Holder.Command)
//	case locks.StateUnknown:
//		fmt.Println("cannot be told:", v.Lock.Why)
//	}
//
// # The lock
//
// MemPalace serialises the writers of one palace with an exclusive flock(2) on
// ~/.mempalace/locks/mine_palace_<key>.lock; see [Key]. Around single source
// files it takes <key>.lock in the same directory; see [SourceKey]. The palace
// lock's file is never removed and keeps the last holder's pid and arguments
// as text, so that neither its being there nor what it says means that anybody
// holds it (MemPalace #2389 showed a long dead pid as the holder). Nor may one
// find out by trying: no MemPalace writer retries, so a lock taken for the
// blink of a probe makes a real one fail.
//
// # Who holds it
//
// The operating system's tables decide. On Linux that is /proc/locks, matched
// by device and inode, and the lock lines in /proc/PID/fdinfo of every process
// that has the file open. Both are needed. The table names whoever took the
// lock, also when that process is dead and a child has inherited it; it has
// the superblock's device, which on btrfs and overlayfs is not the file's; and
// it omits locks whose taker is not in our PID namespace. The descriptors show
// who has the lock now, but not those of other users' processes.
//
// On macOS lsof shows who has a lock file open, which MemPalace does only to
// lock it. Elsewhere nothing is known.
//
// A lock is [Free] only where a holder would be seen. It is [StateUnknown],
// with the reason, when the table cannot be read, when the lock directory is on
// a network or host file system, and in a container that shares it with
// processes outside. A held lock whose holder cannot be seen has an [Identity]
// that says so.
//
// # Who uses it
//
// Processes that have files of a palace open are found by the files' identity,
// whatever path they used, and by path when the file has been deleted or its
// directory was put aside: such a process goes on writing where nobody reads.
//
// All text that comes from other processes' arguments and from lock files has
// lost control characters and secrets. Paths are given as they are.
package locks
