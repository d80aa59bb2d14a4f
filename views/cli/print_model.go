package cli

import (
	"fmt"
	"strings"

	"castellan/palace/embed"
)

// printModel prints a model for people.
func (a *app) printModel(doc modelDocument) {
	row := func(name, text string) {
		a.paragraph(a.ink.faint(fmt.Sprintf("%-11s", name)), strings.Repeat(" ", 11), text)
	}
	state := doc.State
	if doc.Error != nil {
		state += ": " + clean(doc.Error.Message)
	}
	row("model", "all-MiniLM-L6-v2, which palaces record as minilm or default")
	row("state", state)
	if doc.Directory != nil {
		row("directory", clean(*doc.Directory)+" ("+clean(*doc.Source)+")")
	}
	if doc.SHA256 != nil {
		known := "not a file that is known; the reference sentences judge it"
		if doc.Known != nil {
			known = *doc.Known
		}
		row("sha256", *doc.SHA256+", "+known)
	}
	for i, got := range doc.Reference.Got {
		pair := [3][2]int{{1, 2}, {1, 3}, {2, 3}}[i]
		row("reference", fmt.Sprintf("sentences %d and %d: %.4f, expected %.4f", pair[0], pair[1], got, embed.Expected[i]))
	}
	speed := ""
	if doc.TextsPerSecond != nil {
		speed = fmt.Sprintf(", %.0f texts of 200 tokens a second on one core", *doc.TextsPerSecond)
	}
	row("kernel", doc.Kernel+speed)
	if doc.Kernel == "plain Go" {
		row("", "this machine has no AVX2, AVX-512 or NEON, so it takes ten times as long")
	}
}
