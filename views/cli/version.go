package cli

import (
	"runtime"
	"runtime/debug"

	"castellan/palace/dbfile"

	"github.com/spf13/cobra"
)

// version is what castellan version answers.
type version struct {
	Castellan string `json:"castellan"`
	SQLite    string `json:"sqlite"`
	Go        string `json:"go"`
	Platform  string `json:"platform"`
	// Commit and Modified are empty where the build was not made in a clone.
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "What this program is made of",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			v := buildVersion()
			if a.flags.json {
				return writeJSON(a.out, v)
			}
			line := "castellan " + v.Castellan
			if v.Commit != "" {
				line += " (" + v.Commit
				if v.Modified {
					line += ", modified"
				}
				line += ")"
			}
			writeLine(a.out, line)
			writeLine(a.out, "SQLite "+v.SQLite+", "+v.Go+", "+v.Platform)
			return nil
		},
	}
}

// buildVersion reads what the toolchain recorded; a build from a clone has a
// pseudo-version of its commit, one from an archive only "(devel)".
func buildVersion() version {
	v := version{Castellan: "(devel)", SQLite: dbfile.SQLiteVersion, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Castellan = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
