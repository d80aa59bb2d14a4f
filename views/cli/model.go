package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"castellan/palace/embed"
	"castellan/palace/health"
	"castellan/palace/simd"

	"github.com/spf13/cobra"
)

// modelDocument is what castellan model answers. What could not be found out is
// null.
type modelDocument struct {
	Name      string  `json:"name"`
	Directory *string `json:"directory"`
	// Source says who names the directory, File is the one with the weights.
	Source         *string        `json:"source"`
	File           *string        `json:"file"`
	State          string         `json:"state"`
	SHA256         *string        `json:"sha256"`
	Known          *string        `json:"known"`
	Reference      modelReference `json:"reference"`
	Kernel         string         `json:"kernel"`
	TextsPerSecond *float64       `json:"texts_per_second"`
	Error          *health.Error  `json:"error,omitempty"`
}

// modelReference are the cosines of the reference sentences: first and second,
// first and third, second and third. Got is empty where there is no model.
type modelReference struct {
	Want []float64 `json:"want"`
	Got  []float64 `json:"got"`
}

// How a model is.
const (
	modelReady   = "ready"
	modelMissing = "missing"
	modelDamaged = "damaged"
)

// modelDirUsage is said of --model-dir wherever it is.
const modelDirUsage = "the directory of the embedding model (default: CASTELLAN_MODEL_DIR, then Chroma's cache, then Castellan's)"

func (a *app) modelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "The embedding model: status, fetch",
		Long: `Castellan runs all-MiniLM-L6-v2, the model that MemPalace calls minilm, from the
files that Chroma keeps in its cache, and makes the same vectors. Where Chroma
has none, fetch downloads them into a cache of Castellan's own. Nothing else
downloads anything.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("no command %q; castellan model has status and fetch", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			return usagef("say what to do: castellan model status or fetch")
		},
	}
	cmd.AddCommand(a.modelStatusCommand(), a.modelFetchCommand())
	return cmd
}

func (a *app) modelStatusCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Where the embedding model is, and whether it answers as it should",
		Long: `Status loads the model, compares what it makes of three sentences with what the
trained model makes of them, and measures how fast it is here. A directory that
is named is the only one that is looked at.`,
		Example: "  castellan model status\n  castellan model status --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			places, err := embed.Places(dir, os.Getenv)
			if err != nil {
				return err
			}
			return a.modelStatus(cmd.Context(), places)
		},
	}
	cmd.Flags().StringVar(&dir, "model-dir", "", modelDirUsage)
	must(cmd.MarkFlagDirname("model-dir"))
	return cmd
}

// modelStatus examines the model and prints what it found; one that is not
// ready ends the command with an error that the document holds too.
func (a *app) modelStatus(ctx context.Context, places []embed.Place) error {
	doc, err := examineModel(ctx, places)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		doc.Error = describe(ctx, err).document()
	}
	if a.flags.json {
		if err := writeJSON(a.out, doc); err != nil {
			return err
		}
	} else {
		a.printModel(doc)
	}
	if err != nil {
		return &toldError{kind: doc.Error.Kind, code: exitFailed, err: err}
	}
	return nil
}

func examineModel(ctx context.Context, places []embed.Place) (modelDocument, error) {
	doc := modelDocument{
		Name: embed.MiniLM, State: modelDamaged, Kernel: simd.Kernel(),
		Reference: modelReference{Want: embed.Expected[:], Got: []float64{}},
	}
	m, at, err := embed.Open(places)
	var missing *embed.MissingError
	if errors.As(err, &missing) {
		doc.State = modelMissing
		return doc, err
	}
	doc.Directory, doc.Source = &at.Dir, &at.Source
	if err != nil {
		return doc, err
	}
	file := m.Weights()
	doc.File = &file
	sum, err := m.Sum(ctx)
	if err != nil {
		return doc, err
	}
	doc.SHA256 = &sum
	if known := embed.KnownSum(sum); known != "" {
		doc.Known = &known
	}
	got, ok, err := m.Reference(ctx)
	if err != nil {
		return doc, err
	}
	doc.Reference.Got = got[:]
	if !ok {
		return doc, &embed.ModelError{Path: file, Err: errors.New("it does not answer as all-MiniLM-L6-v2 does, so its vectors would not compare with those of a palace")}
	}
	rate, err := m.Rate(ctx, time.Second)
	if err != nil {
		return doc, err
	}
	doc.State, doc.TextsPerSecond = modelReady, &rate
	return doc, nil
}
