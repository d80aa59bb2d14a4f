package health

import "fmt"

// diskFindings warns before a repair or a backup finds out: the worst case
// needs a copy of the palace beside it, and SQLite's own scratch space.
func diskFindings(path string, palaceBytes, free int64) []Finding {
	if free < 0 || free >= palaceBytes+palaceBytes/4+64<<20 {
		return nil
	}
	severity := Info
	if free < 64<<20 {
		severity = Warning
	}
	return []Finding{{
		Code: DiskLow, Severity: severity, Subject: path,
		Cause:    fmt.Sprintf("%s are free on this disk, the palace occupies %s: there is no room for a backup of it", size(free), size(palaceBytes)),
		Evidence: map[string]any{"free": free, "palace": palaceBytes},
		Remedy:   &Remedy{Reason: "a rebuild or a backup would fill the disk in the middle of its work"},
	}}
}
