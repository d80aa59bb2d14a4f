package locks

import (
	"slices"
	"strings"
)

// palaceWords in any argument speak for a keeper of palaces, or for an
// interpreter that could be one.
var palaceWords = []string{"python", "pypy", "chroma", "mempal", "palace", "castellan", "uvicorn", "gunicorn", "hypercorn", "sqlite"}

// runtimes run programs of which the command line need not say what they are.
var runtimes = []string{"node", "nodejs", "bun", "deno", "electron", "java", "ruby", "perl", "php", "lua", "dotnet", "mono", "rscript", "tclsh"}

func mentionsPalaces(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(palaceWords, func(w string) bool { return strings.Contains(text, w) })
}

func isRuntime(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(runtimes, func(r string) bool { return strings.HasPrefix(name, r) })
}

// namesKeeper tells from a program's bare name, where nothing else is to be
// had, whether it is of a kind that keeps palaces.
func namesKeeper(name string) bool { return name == "" || mentionsPalaces(name) || isRuntime(name) }
