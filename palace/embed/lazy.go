package embed

import (
	"context"
	"sync"
)

// Lazy is a model that is loaded when the first text comes, which takes some
// 100 MB: most questions need none. As long as there is none it is looked for
// again each time.
type Lazy struct {
	places []Place
	mu     sync.Mutex
	model  *Model
}

// NewLazy is the model from the first of the places that has a good one.
func NewLazy(places []Place) *Lazy { return &Lazy{places: places} }

// Identity is the name of the model.
func (l *Lazy) Identity() string { return MiniLM }

// EmbedQuery makes the vector of a text, or returns Open's error.
func (l *Lazy) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	m, err := l.open()
	if err != nil {
		return nil, err
	}
	return m.EmbedQuery(ctx, text)
}

func (l *Lazy) open() (*Model, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.model == nil {
		m, _, err := Open(l.places)
		if err != nil {
			return nil, err
		}
		l.model = m
	}
	return l.model, nil
}
