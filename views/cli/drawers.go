package cli

import (
	"context"

	"castellan/palace"
	"castellan/palace/backend"

	"github.com/spf13/cobra"
)

// maxDrawers bounds one page, which is held in memory; export streams.
const maxDrawers = 10_000

// drawerFlags narrow the list of drawers.
type drawerFlags struct {
	collection, wing, room, where, whereDocument, after string
	limit                                               int
	full, all                                           bool
	byWing, byRoom                                      bool
}

// drawerDocument is what castellan drawers answers.
type drawerDocument struct {
	Collection string `json:"collection"`
	// Total counts everything that matches, not only this page.
	Total int64       `json:"total"`
	Next  *string     `json:"next"`
	Rows  []drawerRow `json:"rows"`
	// hidden counts what people are not shown.
	hidden int64
}

func (a *app) drawersCommand() *cobra.Command {
	var f drawerFlags
	cmd := &cobra.Command{
		Use:   "drawers [PALACE]",
		Short: "List and filter drawers",
		Long: `Drawers lists what a collection holds, in the order it was filed.

The rows that MemPalace files for itself (what it has read of conversations,
sentinels) are left out, and the total says how many; --all shows them. The
JSON document always has every row that matches, so that its total agrees with
castellan status.`,
		Example: `  castellan drawers --wing notes --limit 5
  castellan drawers --where '{"chunk_index": {"$gte": 3}}' --json
  castellan drawers --where-document '{"$contains": "castle"}' --full`,
		Args: a.onePalace,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.byWing, f.byRoom = cmd.Flags().Changed("wing"), cmd.Flags().Changed("room")
			return a.drawers(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.collection, "collection", "", "the collection to list (default: the one MemPalace files into)")
	flags.StringVar(&f.wing, "wing", "", "only this wing")
	flags.StringVar(&f.room, "room", "", "only this room")
	flags.StringVar(&f.where, "where", "", "a condition on metadata, as JSON in Chroma's form")
	flags.StringVar(&f.whereDocument, "where-document", "", "a condition on the text, as JSON in Chroma's form")
	flags.IntVar(&f.limit, "limit", 20, "how many drawers to list, at most 10,000")
	flags.StringVar(&f.after, "after", "", "continue behind a page: its next")
	flags.BoolVar(&f.full, "full", false, "whole documents and all metadata")
	flags.BoolVar(&f.all, "all", false, "also the rows that MemPalace files for itself")
	return cmd
}

// filter turns the flags into a condition; a wrong one is wrong usage, before
// anything is opened.
func (f drawerFlags) filter() (backend.Filter, error) {
	if f.limit < 1 || f.limit > maxDrawers {
		return backend.Filter{}, usagef("--limit is %d; it goes from 1 to 10,000 (castellan export lists everything)", f.limit)
	}
	where, err := backend.ParseWhere([]byte(f.where))
	if err != nil {
		return backend.Filter{}, err
	}
	whereDocument, err := backend.ParseWhereDocument([]byte(f.whereDocument))
	if err != nil {
		return backend.Filter{}, err
	}
	all := []backend.Where{where}
	if f.byWing {
		all = append(all, backend.Equal("wing", f.wing))
	}
	if f.byRoom {
		all = append(all, backend.Equal("room", f.room))
	}
	return backend.Filter{Where: backend.AllOf(all...), WhereDocument: whereDocument}, nil
}

func (a *app) drawers(ctx context.Context, f drawerFlags) error {
	filter, err := f.filter()
	if err != nil {
		return err
	}
	return a.reading(ctx, func(p *palace.Palace, config palace.Config) error {
		name := f.collection
		if name == "" {
			name = config.CollectionName
		}
		c, err := p.Collection(ctx, name)
		if err != nil {
			return err
		}
		doc, err := listDrawers(ctx, c, filter, f, !a.flags.json && !f.all)
		if err != nil {
			return err
		}
		if a.flags.json {
			return writeJSON(a.out, doc)
		}
		a.printDrawers(doc, !filter.IsZero())
		return nil
	})
}

// listDrawers collects one page, which may take several of the backend's.
func listDrawers(ctx context.Context, c backend.Collection, filter backend.Filter, f drawerFlags, hide bool) (drawerDocument, error) {
	doc := drawerDocument{Collection: c.Info().Name, Rows: []drawerRow{}}
	var err error
	if doc.Total, err = c.Count(ctx, filter); err != nil {
		return doc, err
	}
	if hide {
		filter.Where = withoutBookkeeping(filter.Where)
		shown, err := c.Count(ctx, filter)
		if err != nil {
			return doc, err
		}
		doc.Total, doc.hidden = shown, doc.Total-shown
	}
	q := backend.Query{Filter: filter, Include: backend.Documents | backend.Metadatas, After: f.after}
	for {
		q.Limit = f.limit - len(doc.Rows)
		page, err := c.Get(ctx, q)
		if err != nil {
			return doc, err
		}
		for _, r := range page.Records {
			doc.Rows = append(doc.Rows, newDrawerRow(r, f.full))
		}
		if page.Next == "" {
			return doc, nil
		}
		if q.After = page.Next; len(doc.Rows) >= f.limit {
			doc.Next = &page.Next
			return doc, nil
		}
	}
}
