package text

// Preview is the beginning of a text of any size, ready to be wrapped: at most
// limit bytes of it, cleaned as by Block, and how many bytes were left out.
func Preview(s string, limit int) (shown string, left int) {
	head, _ := Bound(s, limit, CutEnd)
	return Block(head), len(s) - len(head)
}
