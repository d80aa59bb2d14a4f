// Package locks tells who holds and who uses a MemPalace palace, and takes and
// gives back its locks as MemPalace does. It knows nothing of what a palace
// contains and can be used on its own.
//
// Looking and taking are apart. An [Observer] takes no lock, tries none,
// signals nobody, and creates, changes or removes no file:
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
// Only [Take], [Do] and [TakeSource] lock:
//
//	err := locks.Do(ctx, target, locks.TakeOptions{}, func(ctx context.Context) error {
//		return write(ctx) // whatever takes the palace with this ctx passes
//	})
//	var held *locks.HeldError // palace /p is held by PID 4711 (mempalace mine /x); ...
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
// # Leases
//
// Who has taken a palace has a [Lease], a value that is handed down in the
// context. Nothing else gives credit: not the process, whose other goroutines
// are refused or wait like strangers, and not the memory that a fork copies. A
// lease is given back with the last share in it; a share that has ended starts
// nothing new. (MemPalace's credit is the process's, and there a thread that
// waited could write after the owner had given the palace back.)
//
// A lock belongs to an inode. When somebody removes the lock file, its holder
// goes on alone beside the next one who makes it; so a lease compares the two
// whenever a share is asked for, and is lost for good when they differ.
//
// Where a palace has several keys, because a link or a mount gives it another
// resolved path, they are taken in sorted order, all or none, and none is kept
// while waiting. A wait is announced by the lock on mine_palace_<key>.want.
//
// A palace is taken before a source. A lock of the program's own, around a
// handle or a connection, is taken before the palace.
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
