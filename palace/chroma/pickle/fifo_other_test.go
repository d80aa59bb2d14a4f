//go:build !unix

package pickle

import "errors"

func makeFIFO(string) error { return errors.ErrUnsupported }
