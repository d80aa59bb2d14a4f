//go:build race

package hnswlib_test

// Under the race detector a sync.Pool forgets what it is given now and then.
const underRace = true
