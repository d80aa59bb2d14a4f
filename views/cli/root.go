package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// globals are the flags that every command takes, before or after its name.
type globals struct {
	palace, theme, logFile     string
	json, readOnly, plain, yes bool
}

var themes = []string{"auto", "light", "dark", "high-contrast", "none"}

// rootCommand builds the tree anew for each run: cobra keeps parsed values in
// it.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "castellan",
		Short: "A terminal workbench for MemPalace palaces",
		Long: `Castellan looks after MemPalace palaces: what is in them, who holds them,
what is wrong and how that is known. Looking never changes a byte of a palace.

Without a command it starts the terminal UI on the palaces it finds.`,
		Example: `  castellan demo                 sample palaces, healthy and sick, in a scratch home
  castellan status               your palace in figures
  castellan doctor ~/palace      everything checked, with evidence and remedies`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          a.noSuchCommand,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.canShow() {
				return usagef("the terminal UI needs a terminal; without one use a command, such as: castellan status --json")
			}
			return a.screens(cmd.Context(), "")
		},
	}
	// How far a mistyped name may be from the one that is suggested.
	root.SuggestionsMinimumDistance = 2
	f := root.PersistentFlags()
	f.StringVar(&a.flags.palace, "palace", "", "the palace to look at (default: MEMPALACE_PALACE_PATH, config.json, ~/.mempalace/palace)")
	f.BoolVar(&a.flags.json, "json", false, "one JSON document on standard output, and nothing else there")
	f.BoolVar(&a.flags.readOnly, "read-only", false, "offer nothing that changes a palace")
	f.BoolVar(&a.flags.plain, "plain", false, "linear text: no colours, no full screen, no moving parts")
	f.StringVar(&a.flags.theme, "theme", "auto", "colours: auto, light, dark, high-contrast or none")
	f.StringVar(&a.flags.logFile, "log-file", "", "append a log of this run to a file")
	f.BoolVar(&a.flags.yes, "yes", false, "answer yes to the confirmation a command would ask for")
	root.SetOut(a.out)
	root.SetErr(a.Err)
	root.SetIn(a.In)
	root.AddCommand(
		a.palacesCommand(), a.statusCommand(), a.doctorCommand(), a.locksCommand(),
		a.drawersCommand(), a.searchCommand(), a.exportCommand(), a.closeCommand(), a.deleteCommand(), a.undoCommand(), a.queueCommand(),
		a.repairCommand(), a.backupsCommand(),
		a.modelCommand(), a.demoCommand(), a.holderCommand(), a.versionCommand(),
	)
	// Both fail only for flags that do not exist, which every run would show.
	must(root.MarkPersistentFlagDirname("palace"))
	must(root.RegisterFlagCompletionFunc("theme", cobra.FixedCompletions(themes, cobra.ShellCompDirectiveNoFileComp)))
	for _, c := range append(root.Commands(), subcommands(root)...) {
		if strings.HasSuffix(c.Use, "[PALACE]") {
			c.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		}
	}
	return root
}

func subcommands(root *cobra.Command) (list []*cobra.Command) {
	for _, c := range root.Commands() {
		list = append(list, c.Commands()...)
	}
	return list
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// begin runs once the arguments have been accepted.
func (a *app) begin(cmd *cobra.Command) error {
	if !slices.Contains(themes, a.flags.theme) {
		return usagef("no theme %q; there are auto, light, dark, high-contrast and none", a.flags.theme)
	}
	// A script whose variable is empty means no other palace than the one it
	// failed to name.
	if f := cmd.Flags().Lookup("palace"); f != nil && f.Changed && a.flags.palace == "" {
		return usagef("--palace is empty")
	}
	a.ran = true
	a.ink = newInk(a.Out, a.flags)
	if a.flags.logFile != "" {
		if err := a.openLog(); err != nil {
			return err
		}
	}
	a.log.Info("command started", "command", cmd.CommandPath())
	return nil
}

// openLog opens the log for the rest of the process. Only its owner may read
// it: it names palaces, files and commands.
func (a *app) openLog() error {
	f, err := os.OpenFile(a.flags.logFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("cannot open the log file: %w", err)
	}
	a.log = slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelDebug})).With("pid", os.Getpid())
	return nil
}

// noSuchCommand answers whatever stands where a command should.
func (a *app) noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("no command %q; did you mean %q?", args[0], near[0])
	}
	return usagef("no command %q", args[0])
}

// canShow reports whether the terminal UI has something to be shown on. Its
// plain form is lines, which any stream carries.
func (a *app) canShow() bool {
	return a.Screens != nil && !a.flags.json && (a.flags.plain || a.onTerminal())
}

func (a *app) onTerminal() bool { return isTerminal(a.In) && isTerminal(a.Out) }

// screens starts the terminal UI on the palaces of whoever lives in home.
func (a *app) screens(ctx context.Context, home string) error {
	e := a.eyes(home)
	defer a.shut(e)
	lockHome := home
	if home == "" {
		// Without a home the paths are shown whole.
		home, _ = os.UserHomeDir()
	}
	named := a.flags.palace
	if named != "" && !strings.HasPrefix(named, "~") {
		abs, err := filepath.Abs(named)
		if err != nil {
			return err
		}
		named = abs
	}
	runner, err := a.runner(lockHome)
	if err != nil {
		// Looking needs none, and most of what is done here is looking.
		a.log.Warn("no state is kept", "error", err)
	}
	defer a.endRuns(runner)
	state, _ := stateDir(lockHome) // the runner has said why there is none
	model, _ := embedder("", "")   // whoever has no home has no model either
	return a.Screens(ctx, ScreenOptions{
		Manager: e.manager, Observer: e.observer, Examiner: e.examiner, Runner: runner, StateDir: state, Embedder: model,
		Palace: named, Home: home, Theme: a.flags.theme, Version: buildVersion().Castellan,
		ReadOnly: a.flags.readOnly, Plain: a.flags.plain, In: a.In, Out: a.Out, Log: a.log,
	})
}

// onePalace is the argument check of commands that take PALACE, which is the
// same thing as --palace.
func (a *app) onePalace(_ *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return usagef("one palace at a time, not %d", len(args))
	case len(args) == 0:
		return nil
	case args[0] == "":
		return usagef("the palace's path is empty")
	case a.flags.palace != "" && !samePath(a.flags.palace, args[0]):
		return usagef("--palace %s and %s are two different palaces; name one", a.flags.palace, args[0])
	}
	a.flags.palace = args[0]
	return nil
}

func samePath(x, y string) bool {
	ax, errX := filepath.Abs(x)
	ay, errY := filepath.Abs(y)
	return errors.Join(errX, errY) == nil && ax == ay
}

// noArguments is cobra's NoArgs in our words.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument %q", cmd.CommandPath(), args[0])
	}
	return nil
}
