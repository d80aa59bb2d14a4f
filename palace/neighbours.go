package palace

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"castellan/palace/backend"
)

// maxSiblings bounds how many names of one directory are looked at for
// palaces that nobody named. A palace may lie in a home directory.
const maxSiblings = 1000

// maxServers bounds the records of hubs and daemons, one directory a palace,
// which MemPalace never removes.
const maxServers = 256

func join(dir, name string) string { return filepath.Join(dir, name) }

// chromaServer is the URL of the Chroma server that MemPalace is told to use
// in place of a directory; empty in the usual, embedded mode.
func (d *discoverer) chromaServer() string {
	if !strings.EqualFold(strings.TrimSpace(d.env("MEMPALACE_CHROMA_MODE")), "http") {
		return ""
	}
	host := firstOf(d.env("CHROMA_HOST"), "127.0.0.1")
	port := firstOf(d.env("CHROMA_PORT"), "8801")
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		d.notes = append(d.notes, Note{Kind: NoteServer, Path: "CHROMA_PORT",
			Text: fmt.Sprintf("CHROMA_PORT is %q, which is no port; 8801 is used until it is corrected", port)})
		port = "8801"
	}
	return "http://" + net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// servers are the palaces for which MemPalace's hub or daemon once ran. The
// records stay when the process ends, so they tell of palaces, not of
// processes.
func (d *discoverer) servers() []candidate {
	daemons := firstOf(d.env("MEMPALACE_DAEMON_STATE_ROOT"), join(d.legacyDir(), "daemon"))
	var list []candidate
	for _, place := range []struct{ dir, file, who string }{
		{join(d.legacyDir(), "server"), "serverinfo.json", "hub"},
		{d.absolute(daemons), "endpoint.json", "daemon"},
	} {
		for _, name := range listSome(context.Background(), place.dir, maxServers) {
			file := filepath.Join(place.dir, name, place.file)
			b, err := readSmallFile(file)
			if err != nil {
				continue // most have no record: it goes when the process ends well
			}
			var record struct {
				PalacePath string `json:"palace_path"`
			}
			if json.Unmarshal(b, &record) != nil || record.PalacePath == "" || strings.ContainsRune(record.PalacePath, 0) {
				continue
			}
			list = append(list, candidate{
				path: d.absolute(record.PalacePath), source: SourceFound,
				detail: place.who + " record " + file, optional: true,
			})
		}
	}
	return list
}

// addSiblings looks beside the palaces that are known by now and into the
// configuration directory. Only directories that hold an artifact count, and
// copies that repairs left do not.
func (d *discoverer) addSiblings(ctx context.Context) {
	var parents []string
	for _, f := range d.palaces {
		if f.Ref.Kind == backend.ChromaHTTP {
			continue
		}
		parents = append(parents, filepath.Dir(f.Ref.Path))
		if f.Ref.Real != "" {
			parents = append(parents, filepath.Dir(f.Ref.Real))
		}
	}
	parents = append(parents, d.legacyDir(), d.config.Dir)
	done := map[string]bool{}
	for _, dir := range parents {
		if done[dir] || dir == filepath.Dir(dir) {
			continue
		}
		done[dir] = true
		list, err := observe(ctx, d.looks, dir, siblingLimit, func(ctx context.Context) []string {
			return palacesIn(ctx, dir)
		})
		if err != nil && ctx.Err() == nil {
			d.notes = append(d.notes, Note{Kind: NoteIncomplete, Path: dir, Text: err.Error(), Err: err})
		}
		for _, p := range list {
			d.add(ctx, candidate{path: p, source: SourceFound, detail: "beside a known palace, in " + dir, optional: true, sibling: true})
		}
	}
}

// warnOfServer marks the directory that would be the default palace if
// MemPalace were not told to talk to a server: that may well be its data.
func (d *discoverer) warnOfServer() {
	if d.server == "" {
		return
	}
	for i := range d.palaces {
		f := &d.palaces[i]
		if f.Ref.Kind != backend.ChromaHTTP && f.Source != SourceFlag && f.Source != SourceFound {
			f.Notes = append(f.Notes, Note{Kind: NoteServer, Path: f.Ref.Path,
				Text: fmt.Sprintf("MEMPALACE_CHROMA_MODE is http, so a Chroma server may own %s; do not open it with mempalace or repair it while that runs", f.Ref.Path)})
			return
		}
	}
}

// addTildes looks for what a program leaves behind that did not expand "~":
// a directory of that name, in the home or the working directory, with a
// palace in it that nobody finds (MemPalace #193).
func (d *discoverer) addTildes(ctx context.Context) {
	done := map[string]bool{}
	for _, dir := range []string{d.workDir, d.home} {
		tilde := join(dir, "~")
		if info, err := os.Lstat(tilde); done[tilde] || dir == "" || err != nil || !info.IsDir() {
			continue
		}
		done[tilde] = true
		d.notes = append(d.notes, Note{Kind: NoteLiteralTilde, Path: tilde,
			Text: fmt.Sprintf("%s is a directory that is really called \"~\"; some program did not expand it", tilde)})
		d.add(ctx, candidate{path: filepath.Join(tilde, ".mempalace", "palace"), source: SourceFound, detail: "in a directory called \"~\"", optional: true})
	}
}

// shareSidecars marks the files beside palaces that several of them share:
// MemPalace derives their place from the palace's parent directory.
func (d *discoverer) shareSidecars() {
	for i := range d.palaces {
		f := &d.palaces[i]
		if f.Ref.Real == "" {
			continue
		}
		dir := filepath.Dir(f.Ref.Real)
		var others []string
		for j := range d.palaces {
			if o := &d.palaces[j]; j != i && o.Ref.Real != "" && filepath.Dir(o.Ref.Real) == dir {
				others = append(others, o.Ref.Path)
			}
		}
		if len(others) == 0 {
			continue
		}
		for _, name := range []string{"tunnels.json", "hallways.json", "hallways.sqlite3", "knowledge_graph.sqlite3"} {
			file := join(dir, name)
			if _, err := os.Lstat(file); err == nil {
				f.Notes = append(f.Notes, Note{Kind: NoteSharedSidecar, Path: file, Related: others,
					Text: fmt.Sprintf("%s belongs to every palace in that directory: it is shared with %s", file, strings.Join(others, ", "))})
			}
		}
	}
}
