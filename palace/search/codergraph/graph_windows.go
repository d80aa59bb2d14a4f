package codergraph

import (
	"context"
	"errors"
)

// Graph exists on other systems.
type Graph struct{}

// Available tells whether the library exists on this system.
const Available = false

var errWindows = errors.New("coder/hnsw 0.6.1 does not exist for Windows")

// Build fails: the library does not compile here.
func Build(context.Context, []float32, int, bool) (*Graph, error) { return nil, errWindows }

// Search fails like Build.
func (*Graph) Search([]float32, int) ([]int, error) { return nil, errWindows }
