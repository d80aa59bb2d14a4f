package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"castellan/palace/embed"
)

// embed makes the vector of the words, or says why there is none.
func (r *run) embed(ctx context.Context) ([]float32, string, error) {
	if r.o.Embedder == nil {
		why := r.o.NoEmbedder
		if why == "" {
			why = "there is no embedding model to turn words into a vector"
		}
		return nil, why + ", so words were searched for and not meaning", nil
	}
	info, ours := r.source.Info(), r.o.Embedder.Identity()
	made := cmp.Or(r.o.Made, info.Embedder)
	switch {
	case made == "":
		r.why = append(r.why, "nothing records who made the vectors, so "+ours+" was taken")
	case embed.Same(made, ours):
	case embed.Canonical(made) == embed.Gemma:
		return nil, embed.Supported(made).Error() + "; words were searched for and not meaning", nil
	default:
		return nil, fmt.Sprintf("the vectors were made by %s and the model here is %s, so words were searched for and not meaning", made, ours), nil
	}
	v, err := r.o.Embedder.EmbedQuery(ctx, r.q.Words)
	var missing *embed.MissingError
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case errors.As(err, &missing):
		return nil, "no embedding model is installed that could turn words into a vector (castellan model fetch gets it), so words were searched for and not meaning", nil
	default:
		return nil, fmt.Sprintf("the embedding model failed (%v), so words were searched for and not meaning", err), nil
	}
	if d := info.Dimension; d != nil && *d != len(v) {
		return nil, fmt.Sprintf("the vectors have %d floats and %s makes %d: another model made them, so words were searched for and not meaning", *d, ours, len(v)), nil
	}
	return v, "", nil
}
