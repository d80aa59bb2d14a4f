package dbfile

import (
	"path/filepath"
	"strings"
)

// lookParams make a connection unable to write and distrustful of what it reads. None of them makes SQLite read the
// schema: that happens in a view, after the state of the file was checked, and not as a connection is made.
var lookParams = []string{"_query_only=1", "_defensive=1", "_dqs=0", "_pragma=trusted_schema(0)", "_pragma=cell_size_check(1)"}

// dsn spells a path as a SQLite URI. Every byte but the plainest is escaped: a ? or # would end the path, and SQLite
// decodes the rest to the same bytes, valid UTF-8 or not.
func dsn(path string, params ...string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/dir, as in file:/C:/dir
	} else if strings.HasPrefix(path, "//") {
		path = "//" + path // //server/share: two more, or the server would be taken for a URI's authority
	}
	var b strings.Builder
	b.WriteString("file:")
	const hex = "0123456789ABCDEF"
	for i := range len(path) {
		switch c := path[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("/-._~:", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	for i, p := range params {
		b.WriteByte("?&"[min(i, 1)])
		b.WriteString(p)
	}
	return b.String()
}
