package cli

import (
	"context"
	"os"
	"strings"

	"castellan/palace"
	"castellan/palace/backend"
	"castellan/palace/embed"
	"castellan/palace/search"
	"castellan/palace/search/seek"

	"github.com/spf13/cobra"
)

// searchFlags narrow a search and choose how it is made.
type searchFlags struct {
	collection, wing, room, where, engine, like string
	embedder, modelDir                          string
	results                                     int
	byWing, byRoom                              bool
}

var searchEngines = []string{search.Exact, search.Stored, search.Graph, search.Keyword}

// searchDocument is what castellan search answers. Query is empty where a
// drawer was asked about, which Like names then.
type searchDocument struct {
	Query        string      `json:"query"`
	Like         string      `json:"like,omitempty"`
	Engine       string      `json:"engine"`
	EngineReason string      `json:"engine_reason"`
	Degraded     bool        `json:"degraded"`
	Results      []searchHit `json:"results"`
}

// searchHit is one drawer that was found. Distance is null where no vectors
// were compared, bm25 where no words were.
type searchHit struct {
	ID         string   `json:"id"`
	Wing       any      `json:"wing"`
	Room       any      `json:"room"`
	SourceFile any      `json:"source_file"`
	LineStart  any      `json:"line_start"`
	LineEnd    any      `json:"line_end"`
	Text       string   `json:"text"`
	Score      float64  `json:"score"`
	Distance   *float64 `json:"distance"`
	BM25       *float64 `json:"bm25"`
	// AlsoIn are drawers of other sources with the very same text.
	AlsoIn []searchCopy `json:"also_in,omitempty"`
}

type searchCopy struct {
	ID         string `json:"id"`
	SourceFile string `json:"source_file"`
}

func (a *app) searchCommand() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search [QUERY]",
		Short: "Find drawers by words, or by what they are like",
		Long: `Search ranks as MemPalace does: 0.6 times the similarity of the vectors plus
0.4 times BM25 over the candidates. Where words cannot be turned into a vector,
or no vector can be read, it searches for the words alone and says so; this also
works in a palace whose index is damaged or lost.

The engines: exact compares with every vector that can be read, stored asks the
index that Chroma would ask, graph builds one with coder/hnsw and refuses it
when it measures badly, keyword needs no vectors.`,
		Example: `  castellan search "why did we move to postgres" --wing notes
  castellan search --like drawer_notes_general_53b2123fccb88d276d5f34f2
  castellan search postgres --engine keyword --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.byWing, f.byRoom = cmd.Flags().Changed("wing"), cmd.Flags().Changed("room")
			return a.search(cmd.Context(), strings.Join(args, " "), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.collection, "collection", "", "the collection to search (default: the one MemPalace files into)")
	flags.StringVar(&f.wing, "wing", "", "only this wing")
	flags.StringVar(&f.room, "room", "", "only this room")
	flags.StringVar(&f.where, "where", "", "a condition on metadata, as JSON in Chroma's form")
	flags.IntVar(&f.results, "results", 5, "how many drawers to find, at most 1,000")
	flags.StringVar(&f.engine, "engine", "", "exact, stored, graph or keyword (default: exact where there are vectors)")
	flags.StringVar(&f.embedder, "embedder", embed.MiniLM, "what makes a vector of the words: minilm, or nonsemantic-hash-v1, which knows no meaning")
	flags.StringVar(&f.modelDir, "model-dir", "", modelDirUsage)
	flags.StringVar(&f.like, "like", "", "find drawers like the one with this id, by its stored vector")
	must(cmd.MarkFlagDirname("model-dir"))
	must(cmd.RegisterFlagCompletionFunc("embedder", cobra.FixedCompletions([]string{embed.MiniLM, embed.Hash}, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(searchEngines, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// question turns the command line into a question; what is wrong with it is
// wrong usage, before anything is opened.
func (f searchFlags) question(query string) (search.Question, error) {
	q := search.Question{Words: query, Like: f.like, Results: f.results, Engine: f.engine}
	switch {
	case f.results < 1 || f.results > search.MaxResults:
		return q, usagef("--results is %d; it goes from 1 to 1,000", f.results)
	case strings.TrimSpace(query) == "" && f.like == "":
		return q, usagef(`search for what? castellan search "some words", or --like ID`)
	case strings.TrimSpace(query) != "" && f.like != "":
		return q, usagef("words and --like are two questions; ask one of them")
	}
	where, err := backend.ParseWhere([]byte(f.where))
	if err != nil {
		return q, err
	}
	all := []backend.Where{where}
	if f.byWing {
		all = append(all, backend.Equal("wing", f.wing))
	}
	if f.byRoom {
		all = append(all, backend.Equal("room", f.room))
	}
	q.Filter.Where = backend.AllOf(all...)
	return q, nil
}

func (a *app) search(ctx context.Context, query string, f searchFlags) error {
	q, err := f.question(query)
	if err != nil {
		return err
	}
	with, err := embedder(f.embedder, f.modelDir)
	if err != nil {
		return err
	}
	if f.embedder == embed.Hash {
		a.say("warning: nonsemantic-hash-v1 counts words; what is near to each other by it need not mean the same")
	}
	return a.reading(ctx, func(p *palace.Palace, config palace.Config) error {
		name := f.collection
		if name == "" {
			name = config.CollectionName
		}
		s, err := seek.Open(ctx, p, name, seek.Options{Embedder: with})
		if err != nil {
			return err
		}
		answer, err := s.Search(ctx, q)
		if err != nil {
			return err
		}
		if a.flags.json {
			return writeJSON(a.out, newSearchDocument(q, answer))
		}
		a.printSearch(q, answer)
		return nil
	})
}

// embedder is what makes vectors of words: MiniLM unless another is named. The
// model is read when the first words come.
func embedder(name, dir string) (search.Embedder, error) {
	switch {
	case name == embed.Hash:
		return embed.NewHash(), nil
	case name != "" && !embed.Same(name, embed.MiniLM):
		return nil, &UsageError{embed.Supported(name)}
	}
	places, err := embed.Places(dir, os.Getenv)
	if err != nil {
		return nil, err
	}
	return embed.NewLazy(places), nil
}

func newSearchDocument(q search.Question, answer search.Answer) searchDocument {
	doc := searchDocument{
		Query: q.Words, Like: q.Like, Engine: answer.Engine, EngineReason: answer.Reason, Degraded: answer.Degraded,
		Results: []searchHit{},
	}
	for _, h := range answer.Hits {
		hit := searchHit{
			ID: h.ID, Wing: value(h.Metadata["wing"]), Room: value(h.Metadata["room"]), SourceFile: value(h.Metadata["source_file"]),
			LineStart: value(h.Metadata["line_start"]), LineEnd: value(h.Metadata["line_end"]),
			Text: h.Text, Score: h.Score, Distance: h.Distance, BM25: h.BM25,
		}
		for _, c := range h.AlsoIn {
			hit.AlsoIn = append(hit.AlsoIn, searchCopy{c.ID, c.Source})
		}
		doc.Results = append(doc.Results, hit)
	}
	return doc
}
