package embed

import (
	"fmt"
	"strings"
)

// The models by the name that MemPalace's configuration gives them.
const (
	MiniLM = "minilm"
	Gemma  = "embeddinggemma"
	// Hash is no model: it counts words. See NewHash.
	Hash = "nonsemantic-hash-v1"
)

// names are what palaces record for a model: Chroma the name of its embedding
// function, MemPalace that of its configuration.
var names = map[string]string{
	"default":             MiniLM,
	"onnx_mini_lm_l6_v2":  MiniLM,
	"all-minilm-l6-v2":    MiniLM,
	"embeddinggemma_300m": Gemma,
	"embeddinggemma-300m": Gemma,
}

// Canonical is the name of the model that recorded stands for; a name that is
// not known is its own.
func Canonical(recorded string) string {
	name := strings.ToLower(strings.TrimSpace(recorded))
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if model, ok := names[name]; ok {
		return model
	}
	return name
}

// Same tells whether two recorded names stand for one model.
func Same(a, b string) bool { return Canonical(a) == Canonical(b) }

// UnsupportedError says that a model is known and cannot be run here.
type UnsupportedError struct{ Model, Reason string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s cannot be run here: %s; keyword search and --like, which compares stored vectors, need no model", e.Model, e.Reason)
}

// Supported returns an *UnsupportedError for every model but MiniLM.
func Supported(recorded string) error {
	switch name := Canonical(recorded); name {
	case MiniLM:
		return nil
	case Gemma:
		return &UnsupportedError{Gemma, "it is another kind of network, Gemma 3 with 300 million weights, and only all-MiniLM-L6-v2 is built in"}
	default:
		return &UnsupportedError{name, "only all-MiniLM-L6-v2 is built in"}
	}
}
