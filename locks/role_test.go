package locks

import (
	"strings"
	"testing"
)

func TestRolesAreToldFromArguments(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Role{
		"/usr/bin/mempalace mine /x":                                     RoleMine,
		"mempalace --palace /mine mine /x":                               RoleMine,
		"mempalace --palace=/p --backend chroma repair --mode index":     RoleRepair,
		"/usr/bin/python3 /home/u/.local/bin/mempalace mine /x":          RoleMine,
		"python3.12 -X utf8 -u -m mempalace sync":                        RoleSync,
		"python -um mempalace daemon start":                              RoleDaemon,
		"python3 -m mempalace.cli serve --port 1":                        RoleServe,
		"python3 -m mempalace.mcp_server":                                RoleMCP,
		"/opt/venv/bin/mempalace-mcp":                                    RoleMCP,
		"/opt/venv/bin/python /opt/venv/bin/mempalace-mcp --read-only":   RoleMCP,
		"python3 /x/site-packages/mempalace/mcp_server.py":               RoleMCP,
		"python3 /x/site-packages/mempalace/__main__.py mine /p":         RoleMine,
		"mempalace hook run --event stop":                                RoleHook,
		"python -m mempalace.hooks_cli":                                  RoleHook,
		"mempalace search mine":                                          RoleMemPalace,
		"mempalace":                                                      RoleMemPalace,
		"chroma run --path /p":                                           RoleChroma,
		"node /usr/lib/node_modules/.bin/chroma run --path /p":           RoleChroma,
		"uvicorn chromadb.app:app --port 8000":                           RoleChroma,
		"python3 -m uvicorn chromadb.app:app":                            RoleChroma,
		"chroma browse":                                                  RoleOther,
		"/usr/local/bin/castellan locks":                                 RoleCastellan,
		"python3 worker.py":                                              RolePython,
		"python3 -c print(1)":                                            RolePython,
		"python3":                                                        RolePython,
		"node server.js":                                                 RoleOther,
		"/bin/sh -c mempalace":                                           RoleOther,
		"vim mempalace":                                                  RoleOther,
		"":                                                               RoleOther,
		"python3 -m":                                                     RolePython,
		`C:\Python\python.exe C:\Tools\mempalace.exe mine`:               RoleMine,
		"python3 -W ignore /home/u/bin/mempalace --palace /a mine --x":   RoleMine,
		"/usr/bin/python3 -m mempalace.mcp_server --transport http":      RoleMCP,
		"/usr/bin/python3 -m mempalace.convo_miner /x":                   RoleMine,
		"/usr/bin/python3 -m http.server":                                RolePython,
		"/usr/lib/postgresql/bin/postgres -D /var/lib/mempalace/cluster": RoleOther,
	} {
		if got := roleOf(strings.Fields(line)); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
	if got := roleOf([]string{"mempalace mine /x"}); got != RoleMine {
		t.Errorf("a title in one piece is %q", got)
	}
}

func TestAnInterpretersScriptGivesTheName(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"node /usr/bin/claude":            "claude",
		"python3 -m mempalace.mcp_server": "mempalace.mcp_server",
		"python3 -c pass":                 "comm",
		"zsh":                             "comm",
		"-zsh -i":                         "comm",
	} {
		if got := shownName("comm\x1b[1m", strings.Fields(line)); got != want {
			t.Errorf("%q is called %q, want %q", line, got, want)
		}
	}
}
