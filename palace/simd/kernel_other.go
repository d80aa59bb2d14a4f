//go:build !amd64 && !arm64

package simd

type features struct{}

func detect() features { return features{} }

func kernels() []candidate { return nil }
