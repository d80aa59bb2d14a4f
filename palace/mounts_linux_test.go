package palace

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ownMounts() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Unshareflags: syscall.CLONE_NEWNS}
}

func bindMount(from, to string, readOnly bool) error {
	err := syscall.Mount(from, to, "", syscall.MS_BIND, "")
	if err == nil && readOnly {
		err = syscall.Mount("", to, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	}
	return err
}

const table = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 8:1 /srv/data /mnt/with\040space rw,relatime shared:1 - ext4 /dev/sda1 rw
31 22 0:40 / /nas rw,relatime - nfs4 server:/x rw
32 22 8:1 /srv /nas/inner rw,relatime master:3 propagate_from:2 - ext4 /dev/sda1 rw
33 22 0:41 / /srv/fuse rw - fuse.sshfs host: rw
nonsense
34 22 8:1 / /broken
`

func TestMountTableGivesTheOtherPathsOfAPalace(t *testing.T) {
	t.Parallel()
	list := parseMounts(strings.NewReader(table))
	if len(list) != 5 {
		t.Fatalf("%d mounts, want 5: %+v", len(list), list)
	}
	for real, want := range map[string][]string{
		"/srv/data/p":         {"/mnt/with space/p", "/nas/inner/data/p"},
		"/mnt/with space/p":   {"/srv/data/p", "/nas/inner/data/p"},
		"/nas/inner/data/p":   {"/srv/data/p", "/mnt/with space/p"},
		"/srv/other":          {"/nas/inner/other"},
		"/nas/p":              nil,
		"/home/p":             nil,
		"/srv/database/p":     {"/nas/inner/database/p"},
		"/mnt/with spaces/p2": nil,
	} {
		if diff := cmp.Diff(want, otherMountPoints(list, real)); diff != "" {
			t.Errorf("%s: %s", real, diff)
		}
	}
	if m, ok := mountOf(list, "/srv/fuse/p"); !ok || m.fstype != "fuse.sshfs" {
		t.Errorf("%+v, %v", m, ok)
	}
}

func TestFuseIsNamedByTheMountTable(t *testing.T) {
	t.Parallel()
	got := []string{fuseName("fuse.sshfs"), fuseName("fuseblk"), fuseName("virtiofs"), fuseName("")}
	if want := []string{"fuse.sshfs", "", "virtiofs", "FUSE"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestThousandsOfMountsGiveABoundedAnswer(t *testing.T) {
	t.Parallel()
	list := []mount{{device: "8:1", root: "/", point: "/"}}
	for i := range 5000 {
		list = append(list, mount{device: "8:1", root: "/", point: "/m/" + strings.Repeat("x", i%50+1) + string(rune('a'+i%26))})
	}
	if got := otherMountPoints(list, "/srv/p"); len(got) != maxAliases {
		t.Errorf("%d, want %d", len(got), maxAliases)
	}
}
