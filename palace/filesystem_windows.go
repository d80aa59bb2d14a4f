package palace

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// remoteType knows network drives and shares.
func remoteType(dir string) string {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err != nil || windows.GetDriveType(root) != windows.DRIVE_REMOTE {
		return ""
	}
	return "network"
}

func readOnlyMount(string) bool { return false }
