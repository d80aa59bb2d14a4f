//go:build !linux && !darwin && !windows

package palace

func remoteType(string) string { return "" }

func readOnlyMount(string) bool { return false }
