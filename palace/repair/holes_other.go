//go:build !linux

package repair

import "os"

// nextData: holes are not told here, and are read as zeros.
func nextData(_ *os.File, from, _ int64) int64 { return from }
