package views

import (
	"context"
	"path/filepath"

	"castellan/palace"
	"castellan/palace/action"
	"castellan/palace/repair"
)

// mending are the parts of a repair. It opens nothing: what is to be repaired
// may be impossible to open.
func (c *core) mending(p palace.Found) (repair.Options, error) {
	state, err := c.state()
	return repair.Options{
		Manager: c.o.Manager, Examiner: c.o.Examiner, Observer: c.o.Observer, Found: p,
		StateDir: state, Now: c.o.Now, Version: c.o.Version,
	}, err // what cannot be recorded is not repaired
}

func (c *core) Repairing(ctx context.Context, p palace.Found, how Mending) (action.Action, error) {
	o, err := c.mending(p)
	if err != nil {
		return nil, err
	}
	o.Mode, o.BackupOnly = how.Mode, how.BackupOnly
	return repair.New(ctx, o)
}

func (c *core) Restoring(ctx context.Context, p palace.Found, backup string) (action.Action, error) {
	o, err := c.mending(p)
	if err != nil {
		return nil, err
	}
	return repair.NewRestore(ctx, o, backup)
}

func (c *core) Backups(ctx context.Context, p palace.Found, verify bool) ([]repair.Backup, error) {
	if !filepath.IsAbs(p.Ref.Path) {
		return nil, nil // a server: its copies are not beside it
	}
	site := c.o.Manager.Examine(ctx, p.Ref.Path)
	dir := site.Ref.Real
	if dir == "" {
		dir = site.Ref.Path
	}
	return repair.Backups(ctx, dir, verify)
}
