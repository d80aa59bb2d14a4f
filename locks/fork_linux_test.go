package locks

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A child of ours has our descriptors from its fork to its exec.
func TestAProgramWeStartIsNotTakenForAnOpenerOfWhatWeHaveOpen(t *testing.T) {
	h := home(t)
	p := palaceIn(t, h)
	f, err := os.Create(filepath.Join(p, "chroma.sqlite3"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stop := make(chan struct{})
	var starting sync.WaitGroup
	for range 4 {
		starting.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if err := exec.Command("/proc/self/exe", "-test.run=^$").Run(); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	o := NewObserver(Options{Home: h, SampleInterval: -1})
	for range 150 {
		v, err := o.Palace(t.Context(), Target{Path: p})
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range v.Openers {
			t.Errorf("PID %d (%s) is called an opener", other.PID, other.Command)
		}
		if t.Failed() {
			break
		}
	}
	close(stop)
	starting.Wait()
}
