//go:build !race

package hnswlib_test

const underRace = false
