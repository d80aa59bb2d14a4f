package locks

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

func TestOurReadingOfLsofMatchesAnOpenFile(t *testing.T) {
	t.Parallel()
	lsof, err := exec.LookPath("lsof")
	if err != nil {
		t.Skip("no lsof here")
	}
	path := filepath.Join(t.TempDir(), "chroma.sqlite3")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	id, ok := identify(info)
	if !ok {
		t.Skip("no file identity here")
	}
	out, err := exec.Command(lsof, "-w", "-n", "-P", lsofFields, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []lsofFile
	for _, file := range parseLsof(string(out)) {
		if file.pid == os.Getpid() {
			got = append(got, file)
		}
	}
	if len(got) != 1 || got[0].id != id || got[0].kind != "REG" || got[0].access != "u" {
		t.Errorf("%+v, want %+v", got, id)
	}
}

// Lines of the shape that lsof 4.91 of macOS prints.
func TestLsofProcessesAndFilesAreKeptApart(t *testing.T) {
	t.Parallel()
	out := "p412\nfcwd\na \ntDIR\nD0x1000004\ni2\nn/\nftxt\na \ntREG\nD0x1000004\ni9\nn/usr/bin/python3\n" +
		"f3\nau\ntREG\nD0x1000004\ni77\nn/Users/u/.mempalace/locks/mine_palace_c77e7cd1a6f4b2f3.lock\nf4\nau\ntIPv4\nn127.0.0.1:80\n" +
		"p413\nf5\nar\ntREG\nD0x1000004\ni78\nn/Users/u/a b\npgarbage\nf6\nar\ntREG\ni79\n\nn/x"
	want := []lsofFile{
		{412, "u", "REG", fileID{0x1000004, 77}, "/Users/u/.mempalace/locks/mine_palace_c77e7cd1a6f4b2f3.lock"},
		{412, "u", "IPv4", fileID{}, "127.0.0.1:80"},
		{413, "r", "REG", fileID{0x1000004, 78}, "/Users/u/a b"},
	}
	if got := parseLsof(out); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestProcessArgumentsOfMacOS(t *testing.T) {
	t.Parallel()
	raw := binary.NativeEndian.AppendUint32(nil, 3)
	raw = append(raw, "/usr/bin/python3\x00\x00\x00\x00python3\x00-m\x00mempalace\x00HOME=/secret\x00"...)
	if got := parseProcArgs(raw); !slices.Equal(got, []string{"python3", "-m", "mempalace"}) {
		t.Errorf("%q", got)
	}
	for cut := range raw {
		parseProcArgs(raw[:cut])
	}
	huge := binary.NativeEndian.AppendUint32(nil, 1<<31-1)
	if got := parseProcArgs(append(huge, "/x\x00a\x00b"...)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("a false count gave %q", got)
	}
	if got := parseProcArgs(binary.NativeEndian.AppendUint32(nil, 1<<32-1)); got != nil {
		t.Errorf("%q", got)
	}
}
