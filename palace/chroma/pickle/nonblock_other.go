//go:build !unix

package pickle

const nonblock = 0
