package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"castellan/locks"
	"castellan/palace/specimen"

	"github.com/spf13/cobra"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Sample palaces, healthy and sick, in a scratch home",
		Long: `Demo lays out sample palaces in a scratch home: small ones that a real Chroma
has written, and sick ones made from them. A second process holds the lock of
one. On a terminal it opens the terminal UI on them, where R repairs what is sick;
elsewhere it prints a tour, which repairs one.

Your own palaces are not touched, and nothing is left behind.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.demo(cmd.Context())
		},
	}
}

func (a *app) demo(ctx context.Context) (err error) {
	if a.flags.palace != "" {
		return usagef("the demo has palaces of its own; --palace does not go with it")
	}
	home, err := os.MkdirTemp("", "castellan-demo-")
	if err != nil {
		return fmt.Errorf("cannot make a scratch home: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	// Where temporary files lie behind a link, the palaces would have aliases
	// that nobody asked for.
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	list, err := a.layOut(ctx, home)
	if err != nil {
		return err
	}
	h, err := a.holdOne(ctx, home, list)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	a.log.Info("demo laid out", "home", home, "palaces", len(list), "holder", h.cmd.Process.Pid)
	if a.canShow() && a.onTerminal() {
		return a.screens(ctx, home)
	}
	return a.tour(ctx, home, list, h.cmd.Process.Pid)
}

// layOut fills the scratch home: the palaces side by side, and a configuration
// that makes the first the default, so that they are found as anybody's are.
func (a *app) layOut(ctx context.Context, home string) ([]exhibit, error) {
	dir := filepath.Join(home, "palaces")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	list, err := exhibits()
	if err != nil {
		return nil, err
	}
	for i := range list {
		e := &list[i]
		e.path = filepath.Join(dir, e.name)
		if err := e.make(ctx, a.Samples, e.path); err != nil {
			return nil, fmt.Errorf("sample palace %s: %w", e.name, err)
		}
	}
	config, err := json.MarshalIndent(map[string]string{"palace_path": list[0].path}, "", "  ")
	if err != nil {
		return nil, err
	}
	base := filepath.Join(home, ".mempalace")
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	return list, os.WriteFile(filepath.Join(base, "config.json"), config, 0o600)
}

// holdOne starts the second process on the exhibit that is to be held.
func (a *app) holdOne(ctx context.Context, home string, list []exhibit) (*holder, error) {
	for _, e := range list {
		if e.name == heldExhibit {
			return startHolder(ctx, home, order{
				Lock:     locks.File(locks.Directory(home), locks.Key(e.path)),
				Database: filepath.Join(e.path, specimen.Database),
			})
		}
	}
	return nil, fmt.Errorf("no sample palace is called %s", heldExhibit)
}
