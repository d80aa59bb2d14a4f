package ui

// columnGap is the blank space between columns.
const columnGap = 2

// fitColumns gives each column its width in cells, 0 for those not shown.
// natural is what each would like. First the flexible column shrinks, then all
// others down to their Min, then columns go by priority.
func fitColumns(cols []Column, natural []int, avail int, wide bool) []int {
	widths := make([]int, len(cols))
	shown := make([]bool, len(cols))
	n := 0
	for i, c := range cols {
		if !c.Wide || wide {
			shown[i] = true
			n++
		}
	}
	for n > 0 {
		need := (n - 1) * columnGap
		for i, c := range cols {
			if shown[i] {
				need += leastWidth(c, natural[i])
			}
		}
		if need <= avail || n == 1 {
			break
		}
		last := -1
		for i, c := range cols {
			if shown[i] && (last < 0 || c.Priority <= cols[last].Priority) {
				last = i
			}
		}
		shown[last] = false
		n--
	}

	left := avail - (n-1)*columnGap
	for i, c := range cols {
		if shown[i] {
			widths[i] = leastWidth(c, natural[i])
			left -= widths[i]
		}
	}
	// What is left goes to the columns in the order of their priority, the
	// flexible one last.
	for left > 0 {
		best := -1
		for i, c := range cols {
			if shown[i] && !c.Flex && widths[i] < fullWidth(c, natural[i]) && (best < 0 || c.Priority > cols[best].Priority) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		grow := min(left, fullWidth(cols[best], natural[best])-widths[best])
		widths[best] += grow
		left -= grow
	}
	for i, c := range cols {
		if shown[i] && c.Flex && left > 0 {
			grow := left
			if c.Max > 0 {
				grow = min(grow, c.Max-widths[i])
			}
			widths[i] += max(grow, 0)
			left -= max(grow, 0)
		}
	}
	if n == 1 && left < 0 {
		for i := range widths {
			widths[i] = min(widths[i], max(avail, 0))
		}
	}
	return widths
}

// flexMin is the least width of a flexible column that asks for none.
const flexMin = 8

func leastWidth(c Column, natural int) int {
	full := fullWidth(c, natural)
	switch {
	case c.Min > 0:
		if c.Flex {
			return c.Min
		}
		return min(c.Min, full)
	case c.Flex:
		return min(full, flexMin)
	}
	return full
}

func fullWidth(c Column, natural int) int {
	if c.Max > 0 {
		return min(natural, c.Max)
	}
	return natural
}
