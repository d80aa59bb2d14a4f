package locks

import "golang.org/x/sys/windows"

const stillActive = 259

// alive asks with a handle. kill(pid, 0) of other runtimes ends the process
// here.
func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	var code uint32
	return windows.GetExitCodeProcess(h, &code) == nil && code == stillActive
}
