// Package dbfile is the only way in this program to a SQLite file, and it looks without touching.
//
// A palace is somebody's memory, usually open in another process while we look at it. SQLite's own read-only
// mode is not enough: it creates -wal and -shm beside a database in WAL mode, and a careless close of a
// descriptor drops locks that guard a transaction. The rules, each of which cost somebody a database:
//
//   - POSIX record locks belong to the pair (process, inode). They all die when the process closes any descriptor
//     of that inode, even one that was opened only to read sixteen bytes. So while this process has a SQLite
//     connection to a file, nobody may open and close that file by other means: no sniffing, hashing or copying.
//     Every look goes through one table of open files, keyed by [FileID]; a descriptor opened for a look
//     stays open until the last connection to that inode is gone. A package that opens a connection of its own,
//     to write, announces it with [Hold] first.
//
//   - How a database is opened follows from what lies beside it, and is named by [Access]:
//
//     rollback journal, none hot          mode=ro
//     WAL, -wal and -shm both there       mode=ro and readonly_shm=1, which leaves -shm alone; without it -shm is written
//     WAL, nothing in -wal to be read     immutable=1; mode=ro would create the sidecars, or look for ten seconds
//     hot journal, or frames in a -wal    a private copy, recovered there, never in place
//     whose -shm is missing
//
//   - The state can change between the look and the read. Each [DB.View] therefore checks it again, and where the
//     system allows (Linux) does so under a SHARED lock of its own, so that SQLite finds what was checked. If the
//     state has changed the view fails with [*StaleError] and the caller opens the file again.
//
//   - A reader's SHARED lock stops the commit of a writer, so views are short, and waiting for a lock is bounded.
//     A question that takes long is asked of a [DB.Snapshot].
//
//   - Everything read is hostile: schemas are not trusted, the connection is query-only and defensive, and no length
//     is believed before it was compared with the size of the file. A FIFO, a socket or a directory in the place of the
//     database, or of one of its sidecars, is refused before anything opens it.
//
// Access times do change by reading; nothing else does.
package dbfile
