//go:build !unix

package hnswlib

import "io/fs"

const nonblock = 0

func allocated(info fs.FileInfo) int64 { return info.Size() }
