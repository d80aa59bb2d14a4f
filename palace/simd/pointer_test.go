package simd

import "unsafe"

func ptr(v []float32) *float32 { return unsafe.SliceData(v) }
