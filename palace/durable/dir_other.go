//go:build !unix

package durable

// SyncDir does nothing: Windows has no such call, and NTFS keeps names in its
// own journal.
func SyncDir(string) error { return nil }
