//go:build !unix

package palace

// openNonBlocking is empty where no file system has FIFOs.
const openNonBlocking = 0
