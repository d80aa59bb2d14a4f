package repair

import (
	"context"
	"fmt"
	"time"
)

// vacuum gives the free pages of the database back to the disk.
type vacuum struct{}

func (x *vacuum) prepare(_ context.Context, pt *patient) (work, error) {
	f := pt.p.DB().Facts()
	free := int64(f.FreePages) * int64(f.PageSize)
	return work{
		none:    free == 0,
		steps:   []string{fmt.Sprintf("write the database anew without its %d free pages (%d bytes)", f.FreePages, free)},
		touches: []string{pt.database()},
		bytes:   2 * f.Size, temp: f.Size,
		estimate: time.Second + time.Duration(f.Size)*20*time.Nanosecond,
	}, nil
}

func (x *vacuum) perform(ctx context.Context, pt *patient, run *running) error {
	if err := run.phase("write the database without its free pages", false); err != nil {
		return err
	}
	if err := run.at("vacuum"); err != nil {
		return err
	}
	run.changed = true
	return pt.w.Vacuum(ctx)
}
