package locks

import "testing"

func TestInterpretersCountAsKeepersByTheirNamesAlone(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Python": true, "python3.11": true, "node": true, "chroma": true, "mempalace-mcp": true, "uvicorn": true, "bun": true, "": true,
		"launchd": false, "mds_stores": false, "WindowServer": false, "sshd": false,
	} {
		if namesKeeper(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
