package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"castellan/palace/health"
)

// errorDocument is what a failed command answers with --json.
type errorDocument struct {
	Error *health.Error `json:"error"`
}

// writeJSON writes one document. Everything beyond ASCII stays as it is, but
// for the characters a terminal would act on.
func writeJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeControls(buf.Bytes()))
	return err
}

// escapeControls spells DEL and the C1 control characters as \u escapes: JSON
// allows them as they are, and a terminal that shows the document would obey
// them. They occur inside strings only, where the escape means the same.
func escapeControls(b []byte) []byte {
	i := nextControl(b)
	if i < 0 {
		return b
	}
	const hex = "0123456789abcdef"
	out := make([]byte, 0, len(b)+64)
	for i >= 0 {
		out = append(out, b[:i]...)
		c, size := b[i], 1
		if c == 0xc2 {
			c, size = b[i+1], 2
		}
		out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		b = b[i+size:]
		i = nextControl(b)
	}
	return append(out, b...)
}

func nextControl(b []byte) int {
	for i, c := range b {
		if c == 0x7f || c == 0xc2 && i+1 < len(b) && b[i+1] >= 0x80 && b[i+1] <= 0x9f {
			return i
		}
	}
	return -1
}
