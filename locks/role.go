package locks

import (
	"path/filepath"
	"strings"
)

// Role is what a process is to a palace, told from its arguments.
type Role string

const (
	RoleMine      Role = "mine"
	RoleMCP       Role = "MCP server"
	RoleHook      Role = "hook"
	RoleRepair    Role = "repair"
	RoleDaemon    Role = "daemon"
	RoleServe     Role = "serve"
	RoleSync      Role = "sync"
	RoleMemPalace Role = "mempalace" // another of its commands
	RoleChroma    Role = "chroma server"
	RoleCastellan Role = "castellan"
	RolePython    Role = "python"
	RoleOther     Role = "other"
)

// roleOf classifies by the program, the script an interpreter runs, or the
// module after "python -m". A process may call itself anything: a role is a
// help for people, no ground for a decision.
func roleOf(argv []string) Role {
	if len(argv) == 1 {
		argv = strings.Fields(argv[0]) // a title set by the program itself
	}
	if len(argv) == 0 {
		return RoleOther
	}
	name, rest := programName(argv[0]), argv[1:]
	if !isPython(name) && !isInterpreter(name) {
		return programRole(name, rest)
	}
	script, module, rest := interpreted(rest)
	switch {
	case module != "":
		if r := moduleRole(module, rest); r != RoleOther {
			return r
		}
	case script != "":
		dir, base := filepath.Base(filepath.Dir(script)), programName(script)
		if base == "__main__" {
			base, dir = dir, ""
		}
		r := programRole(base, rest)
		if dir == "mempalace" {
			r = moduleRole("mempalace."+base, rest)
		}
		if r != RoleOther {
			return r
		}
	}
	if isPython(name) {
		return RolePython
	}
	return RoleOther
}

func programRole(name string, args []string) Role {
	switch {
	case name == "mempalace":
		return commandRole(args)
	case strings.HasPrefix(name, "castellan"):
		return RoleCastellan
	case name == "chroma" && len(args) > 0 && args[0] == "run":
		return RoleChroma
	case name == "uvicorn":
		for _, a := range args {
			if strings.HasPrefix(a, "chromadb.app") {
				return RoleChroma
			}
		}
		return RoleOther
	}
	if verb, ok := strings.CutPrefix(name, "mempalace-"); ok {
		return commandRole([]string{verb})
	}
	return RoleOther
}

// moduleRole classifies what "python -m" or a script inside a package runs.
func moduleRole(module string, args []string) Role {
	switch module {
	case "mempalace", "mempalace.cli", "mempalace.__main__":
		return commandRole(args)
	case "mempalace.mcp_server":
		return RoleMCP
	case "mempalace.hooks_cli":
		return RoleHook
	case "mempalace.miner", "mempalace.convo_miner", "mempalace.format_miner":
		return RoleMine
	case "uvicorn":
		return programRole(module, args)
	}
	if verb, ok := strings.CutPrefix(module, "mempalace."); ok {
		return commandRole([]string{verb})
	}
	if module == "chromadb" || strings.HasPrefix(module, "chromadb.") {
		return RoleChroma
	}
	return RoleOther
}

// commandRole reads the sub-command of the mempalace program, behind its
// global options.
func commandRole(args []string) Role {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--palace" || a == "--backend":
			i++
		case strings.HasPrefix(a, "-"):
		default:
			switch a {
			case "mine", "repair", "daemon", "serve", "sync", "hook":
				return Role(a)
			case "mcp":
				return RoleMCP
			}
			return RoleMemPalace
		}
	}
	return RoleMemPalace
}

// interpreted finds what an interpreter runs: a script, or the module of -m.
func interpreted(args []string) (script, module string, rest []string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-X" || a == "-W" || a == "--require" || a == "-r":
			i++
		case strings.HasPrefix(a, "--"):
		case len(a) > 1 && a[0] == '-' && strings.HasSuffix(a, "m"):
			if i+1 < len(args) {
				return "", args[i+1], args[i+2:]
			}
		case len(a) > 1 && a[0] == '-' && strings.HasSuffix(a, "c"):
			return "", "", nil
		case strings.HasPrefix(a, "-"):
		default:
			return a, "", args[i+1:]
		}
	}
	return "", "", nil
}

// programName is the name people know a program by: no directory, no suffix.
func programName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	name := strings.ToLower(path)
	for _, suffix := range []string{".exe", ".py", ".js", ".mjs", ".cjs"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

func isPython(name string) bool {
	return strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy")
}

func isInterpreter(name string) bool {
	return name == "node" || name == "bun" || name == "deno"
}

// shownName is the name people know a process by. An interpreter's name says
// nothing, so its script stands for it.
func shownName(comm string, argv []string) string {
	if len(argv) > 1 {
		if name := programName(argv[0]); isPython(name) || isInterpreter(name) {
			script, module, _ := interpreted(argv[1:])
			if script != "" {
				return clean(programName(script))
			}
			if module != "" {
				return clean(module)
			}
		}
	}
	return clean(comm)
}
