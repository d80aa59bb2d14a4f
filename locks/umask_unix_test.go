//go:build unix

package locks

import "syscall"

// Some tests look as another user at what they have made, this program
// included: both must be readable also where the umask says 077.
func init() { syscall.Umask(0o022) }
