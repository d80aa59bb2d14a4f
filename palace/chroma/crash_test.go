package chroma

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"castellan/palace/backend"
)

// TestMain is also the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CHROMA_TEST_WRITE"); dir != "" {
		if err := writeWithoutEnd(dir, os.Getenv("CHROMA_TEST_ALONE") == "yes"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

const crashRows = 40

// writeWithoutEnd turns all of a collection's records over, one transaction a
// turn, and prints the turn once it is committed.
func writeWithoutEnd(dir string, alone bool) error {
	ctx := context.Background()
	p, err := Open(ctx, dir, Options{})
	if err != nil {
		return err
	}
	c, err := p.Writable(answering(alone)).Writer(ctx, "drawers")
	if err != nil {
		return err
	}
	for turn := int64(1); ; turn++ {
		var list []backend.Record
		for i := range crashRows {
			// Bodies of several pages each, so that a turn is spread over the file.
			text := fmt.Sprintf("turn %d of %d", turn, i)
			for len(text) < 3000 {
				text += fmt.Sprintf(" %x", rand.Uint64())
			}
			list = append(list, backend.Record{ID: fmt.Sprint("r", i), Embedding: vectorOf(float32(turn)), Document: &text,
				Metadata: backend.Metadata{"turn": turn, "list": []int64{turn, turn}}})
		}
		if err := c.Upsert(ctx, list); err != nil {
			return err
		}
		fmt.Println(turn)
	}
}

// crashed is a palace whose writer was killed in the middle, and the last turn
// that it said was committed.
func crashed(t *testing.T, dir string, alone bool, after time.Duration) (said int64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "CHROMA_TEST_WRITE="+dir, "CHROMA_TEST_ALONE="+map[bool]string{true: "yes"}[alone])
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	var timer *time.Timer
	for lines.Scan() {
		said, err = strconv.ParseInt(lines.Text(), 10, 64)
		must(t, err)
		if timer == nil {
			timer = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait() // killed, as it should be
	if said == 0 {
		t.Fatal("the writer did not get through a turn")
	}
	return said
}

func TestAKilledWriteIsThereWholeOrNotAtAll(t *testing.T) {
	eachShape(t, func(t *testing.T, alone bool) {
		dir := filepath.Join(t.TempDir(), "palace")
		must(t, Create(t.Context(), dir))
		p := open(t, dir)
		_, err := p.Writable(answering(true)).CreateCollection(t.Context(), backend.NewCollection{Name: "drawers", Embedder: NoEmbedder})
		must(t, err)
		must(t, p.Close())
		for range 6 {
			said := crashed(t, dir, alone, time.Duration(rand.IntN(120))*time.Millisecond)
			wholeTurn(t, dir, said)
		}
		// The next writer rolls back what the last one left, and goes on.
		must(t, writer(t, open(t, dir), "drawers", alone).Upsert(t.Context(), []backend.Record{{ID: "after", Embedding: vectorOf(1)}}))
		soundAfter(t, dir)
	})
}

// wholeTurn holds every record to the same turn, and that to what was said.
func wholeTurn(t *testing.T, dir string, said int64) {
	t.Helper()
	list := walk(t, collection(t, open(t, dir), "drawers"), backend.Query{Include: everyPart})
	if len(list) != crashRows {
		t.Fatalf("%d records", len(list))
	}
	turn, _ := list[0].Metadata["turn"].(int64)
	if turn < said {
		t.Fatalf("turn %d was committed, turn %d is there", said, turn)
	}
	for _, r := range list {
		var inText int64
		if _, err := fmt.Sscanf(*r.Document, "turn %d", &inText); err != nil || inText != turn {
			t.Errorf("%s has the text of turn %d beside turn %d, %v", r.ID, inText, turn, err)
		}
		if l, _ := r.Metadata["list"].([]int64); len(l) != 2 || l[0] != turn || r.Metadata["turn"] != turn || r.Embedding[0] != float32(turn) {
			t.Errorf("%s is of several turns: %v, vector %v, want %d", r.ID, r.Metadata, r.Embedding[0], turn)
		}
	}
}
