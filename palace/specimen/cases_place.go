package specimen

import (
	"context"
	"os"
	"path/filepath"
)

// placeCases are about the directory rather than what it holds.
func placeCases() []Sickness {
	return []Sickness{
		{
			Name: "directory-missing", Title: "no directory", Case: "MemPalace #1498", Base: "fresh", Effect: Forgets,
			Story: "The configured palace has never been made, or its disk is not mounted.",
			Apply: func(_ context.Context, dir string) error { return os.RemoveAll(dir) },
		},
		{
			Name: "directory-empty", Title: "empty directory", Case: "MemPalace #1532", Base: "empty", Healthy: true, Effect: Works,
			Story: "Somebody made the directory; nothing has been filed yet.",
			Apply: func(_ context.Context, dir string) error { return clearDir(dir) },
		},
		{
			Name: "directory-forbidden", Title: "directory not ours to read", Case: "MemPalace #814", Base: "fresh", Effect: Refuses,
			Story: "The palace was made by another user, as in a container with another uid. It takes a chmod before it can be removed.",
			Apply: func(_ context.Context, dir string) error { return os.Chmod(dir, 0) },
		},
		{
			Name: "database-forbidden", Title: "database not ours to read", Case: "MemPalace #814", Base: "fresh", Effect: Refuses,
			Story: "The directory can be listed, the database in it cannot be read.",
			Apply: func(_ context.Context, dir string) error { return os.Chmod(filepath.Join(dir, Database), 0) },
		},
		{
			Name: "tilde-directory", Title: "a directory named ~", Case: "MemPalace #193", Base: "fresh", Effect: Forgets,
			Story: "A tool did not expand ~ and made a directory of that name: the palace lies in ~/.mempalace/palace below this one.",
			Apply: func(_ context.Context, dir string) error { return nest(dir, "~", ".mempalace", "palace") },
		},
		{
			Name: "palace-one-below", Title: "one level too shallow", Case: "MemPalace #1454", Base: "fresh", Effect: Forgets,
			Story: "The path names the directory around the palace, not the palace.",
			Apply: func(_ context.Context, dir string) error { return nest(dir, "palace") },
		},
		{
			Name: "database-directory", Title: "database is a directory", Case: "Docker bind mounts", Base: "synced", Effect: Refuses,
			Story: "The database was mounted into a container before it existed, so that Docker made a directory of its name.",
			Apply: func(_ context.Context, dir string) error {
				name := filepath.Join(dir, Database)
				if err := os.Remove(name); err != nil {
					return err
				}
				return os.Mkdir(name, 0o700)
			},
		},
	}
}

// nest moves all that dir holds into a directory below it.
func nest(dir string, below ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	to := filepath.Join(append([]string{dir}, below...)...)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
