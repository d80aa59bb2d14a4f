//go:build !unix

package hnswlib_test

import "errors"

func makeFIFO(string) error { return errors.ErrUnsupported }
