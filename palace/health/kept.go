package health

import (
	"context"
	"fmt"
	"os"
	"strings"

	"castellan/palace"
	"castellan/palace/backend"
)

// kept is what was read of a palace's files, and the state they were in.
type kept struct {
	stamp stamp
	part  *fileReport
}

type keptKey struct {
	path  string
	id    backend.FileID
	depth Depth
}

// maxKept bounds how many palaces are remembered.
const maxKept = 64

func (e *Examiner) recall(key keptKey, now stamp) *fileReport {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.kept[key]
	if k == nil || k.stamp != now {
		return nil
	}
	return k.part
}

func (e *Examiner) keep(key keptKey, now stamp, part *fileReport) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.kept) >= maxKept {
		clear(e.kept)
	}
	e.kept[key] = &kept{now, part}
}

// stamp is the outer state of everything a file report depends on: equal
// stamps mean that reading again would say the same.
type stamp struct {
	palace palace.Stamp
	around string
}

// stampOf takes it by stats alone: the palace's own files, what lies around
// them, and MemPalace's configuration.
func stampOf(ctx context.Context, p *palace.Palace, s *palace.Site, cfg palace.Config) (stamp, error) {
	own, _, err := p.Changed(ctx, palace.Stamp{})
	if err != nil {
		return stamp{}, err
	}
	var b strings.Builder
	for _, k := range s.Layout.Backups {
		fmt.Fprintf(&b, "|%s %v", k.Path, k.ModTime)
	}
	for _, k := range s.Layout.Sidecars {
		fmt.Fprintf(&b, "|%s %v", k.Path, k.ModTime)
	}
	if info, err := os.Stat(cfg.File); err == nil {
		fmt.Fprintf(&b, "|%d %v", info.Size(), info.ModTime())
	}
	fmt.Fprintf(&b, "|%s %s", cfg.CollectionName, cfg.EmbeddingModel)
	return stamp{own, b.String()}, nil
}
