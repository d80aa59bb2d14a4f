package cli

import (
	"context"
	"os"

	"castellan/palace/embed"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

func (a *app) modelFetchCommand() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "fetch",
		Short: "Download the embedding model, where there is none yet",
		Long: `Fetch downloads the archive that Chroma downloads, 79 MB, into Castellan's own
cache, checks its sha256 and unpacks it. A download that was cut off goes on
where it stopped. Where a good model is already, in Chroma's cache for one,
nothing is downloaded. Chroma's cache is never written.

On a machine without a network, take onnx.tar.gz from another one: --from FILE.
It has to be the same archive, whoever it comes from.`,
		Example: "  castellan model fetch\n  castellan model fetch --from /media/usb/onnx.tar.gz",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("from") && from == "" {
				return usagef("--from is empty")
			}
			return a.modelFetch(cmd.Context(), from)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "another URL, or a file with the archive")
	return cmd
}

func (a *app) modelFetch(ctx context.Context, from string) error {
	// Where CASTELLAN_MODEL_DIR points is somebody's own affair: what is fetched
	// goes into the cache.
	places, err := embed.Places("", func(string) string { return "" })
	if err != nil {
		return err
	}
	if dir := os.Getenv("CASTELLAN_MODEL_DIR"); dir != "" {
		a.say("as long as CASTELLAN_MODEL_DIR is %s, searches use the model there", dir)
	}
	if m, at, err := embed.Open(places); err == nil {
		if _, ok, err := m.Reference(ctx); ok || err != nil {
			a.say("a good model is in %s already", at.Dir)
			return a.modelStatus(ctx, places)
		}
	}
	dir, err := embed.CacheDir()
	if err != nil {
		return err
	}
	tenth := int64(-1)
	f := embed.Fetch{From: from, Dir: dir, Progress: func(done, total int64) {
		if total <= 0 || done*10/total == tenth {
			return
		}
		tenth = done * 10 / total
		a.say("%s of %s", humanize.Bytes(uint64(done)), humanize.Bytes(uint64(total)))
	}}
	if err := f.Run(ctx); err != nil {
		return err
	}
	return a.modelStatus(ctx, places)
}
