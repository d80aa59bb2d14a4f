package embed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Model is all-MiniLM-L6-v2, ready to run. It may be used by any number of
// goroutines; about 90 MB of weights and 4 MB for each text on its way.
type Model struct {
	dir, weights string
	tokenizer    *Tokenizer
	network      *network
	scratches    sync.Pool
}

// ModelError says what is wrong with the files of a model.
type ModelError struct {
	Path string
	Err  error
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("%s: %v; castellan model status checks a model, castellan model fetch gets a good one", e.Path, e.Err)
}

// Unwrap is what is wrong.
func (e *ModelError) Unwrap() error { return e.Err }

// The files of a model, and how large they may be: more than ten times what
// they are. The weights are model.onnx, or else model.safetensors.
const (
	configFile      = "config.json"
	tokenizerName   = "tokenizer.json"
	onnxFile        = "model.onnx"
	safetensorsFile = "model.safetensors"

	maxJSON    = 16 << 20
	maxWeights = 1 << 30
)

// Load reads a model from its directory.
func Load(dir string) (*Model, error) {
	m := &Model{dir: dir}
	m.scratches.New = func() any { return new(scratch) }
	b, err := m.read(configFile, maxJSON)
	if err != nil {
		return nil, err
	}
	s, err := readShape(b)
	if err != nil {
		return nil, &ModelError{filepath.Join(dir, configFile), err}
	}
	read := readONNX
	m.weights = filepath.Join(dir, onnxFile)
	b, err = m.read(onnxFile, maxWeights)
	if errors.Is(err, os.ErrNotExist) {
		read = readSafetensors
		m.weights = filepath.Join(dir, safetensorsFile)
		if b2, err2 := m.read(safetensorsFile, maxWeights); !errors.Is(err2, os.ErrNotExist) {
			b, err = b2, err2
		}
	}
	if err != nil {
		return nil, err
	}
	w, err := read(b)
	if err == nil {
		m.network, err = newNetwork(s, w)
	}
	if err != nil {
		return nil, &ModelError{m.weights, err}
	}
	if b, err = m.read(tokenizerName, maxJSON); err != nil {
		return nil, err
	}
	if m.tokenizer, err = newTokenizer(b, len(m.network.words)/s.Hidden); err != nil {
		return nil, &ModelError{filepath.Join(dir, tokenizerName), err}
	}
	m.tokenizer.limit = min(m.tokenizer.limit, m.network.places)
	return m, nil
}

func (m *Model) read(name string, most int64) ([]byte, error) {
	path := filepath.Join(m.dir, name)
	b, err := readFile(path, most)
	if err != nil {
		return nil, &ModelError{path, err}
	}
	return b, nil
}

// readFile reads a regular file of at most so many bytes.
func readFile(path string, most int64) ([]byte, error) {
	// Opening a named pipe would wait for somebody to write into it.
	info, err := os.Stat(path)
	if err != nil {
		return nil, plainly(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	if info.Size() > most {
		return nil, fmt.Errorf("it is %d bytes long, and %d are the most that is read", info.Size(), most)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plainly(err)
	}
	defer f.Close()
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("reading it: %w", err)
	}
	return b, nil
}

// plainly is an error without the path, which stands before it already.
func plainly(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Identity is the name of the model.
func (m *Model) Identity() string { return MiniLM }

// Dimension is the size of the vectors.
func (m *Model) Dimension() int { return m.network.Hidden }

// Weights is the path of the file that the weights were read from.
func (m *Model) Weights() string { return m.weights }

// Tokenizer is the model's.
func (m *Model) Tokenizer() *Tokenizer { return m.tokenizer }

// EmbedQuery makes the vector of one text, of length 1. A text beyond 256
// tokens is cut, as Chroma does.
func (m *Model) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	s := m.scratches.Get().(*scratch)
	defer m.scratches.Put(s)
	return m.network.forward(ctx, m.tokenizer.Encode(text), s)
}

// Embed makes the vectors of texts, on all processors. Each is the same as
// EmbedQuery's, bit for bit.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, text := range texts {
		g.Go(func() (err error) {
			vectors[i], err = m.EmbedQuery(ctx, text)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return vectors, nil
}
