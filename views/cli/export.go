package cli

import (
	"context"
	"strings"

	"castellan/palace"
	"castellan/palace/backend"

	"github.com/spf13/cobra"
)

func (a *app) exportCommand() *cobra.Command {
	var collection string
	var vectors bool
	cmd := &cobra.Command{
		Use:   "export [PALACE]",
		Short: "JSON lines straight from SQLite, also when the index is broken",
		Long: `Export writes every row as one line of JSON: collection, id, document,
metadata, and with --vectors its embedding (null where none can be read). The
collections come by name, the rows of each in the order they were filed.

JSON carries Unicode only. Text that is not valid UTF-8 is written with U+FFFD
in its place, and its exact bytes are added in base64 under "raw".`,
		Example: `  castellan export > palace.jsonl
  castellan export ~/old-palace --collection mempalace_drawers --vectors | zstd > drawers.jsonl.zst`,
		Args: a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.reading(cmd.Context(), func(p *palace.Palace, _ palace.Config) error {
				return a.export(cmd.Context(), p, collection, vectors)
			})
		},
	}
	cmd.Flags().StringVar(&collection, "collection", "", "only this collection (default: all)")
	cmd.Flags().BoolVar(&vectors, "vectors", false, "also the embeddings")
	return cmd
}

func (a *app) export(ctx context.Context, p backend.Backend, only string, vectors bool) error {
	names := []string{only}
	if only == "" {
		list, err := p.Collections(ctx)
		if err != nil {
			return err
		}
		names = names[:0]
		for _, c := range list {
			names = append(names, c.Name)
		}
	}
	for _, name := range names {
		if err := a.exportCollection(ctx, p, name, vectors); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		a.say("The palace has no collections: there is nothing to export.")
	}
	return nil
}

// exportCollection streams one collection: what is held is one page of the
// backend's.
func (a *app) exportCollection(ctx context.Context, p backend.Backend, name string, vectors bool) error {
	c, err := p.Collection(ctx, name)
	if err != nil {
		return err
	}
	e := exporter{collection: c.Info().Name, vectors: vectors}
	q := backend.Query{Include: backend.Documents | backend.Metadatas | backend.URIs}
	if vectors {
		q.Include |= backend.Embeddings
	}
	err = backend.Walk(ctx, c, q, func(r backend.Record) error {
		line, err := e.line(r)
		if err != nil {
			return err
		}
		_, err = a.out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	told := []string{plural(e.rows, "row", "rows") + " of " + e.collection}
	if e.bare > 0 {
		told = append(told, plural(e.bare, "row has", "rows have")+" no vector that can be read")
	}
	if e.raw > 0 {
		told = append(told, plural(e.raw, "row holds", "rows hold")+` bytes that are not UTF-8: they stand in base64 under "raw"`)
	}
	a.say("%s.", strings.Join(told, "; "))
	return nil
}
