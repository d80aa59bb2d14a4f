package specimen

import (
	"math/rand/v2"
	"strings"
)

// words are ordered as text uses them: the first ones most often.
var words = strings.Fields(`
the of and to we in that is for it with on was as this are but by not from be have at or when they which you an has
index file palace drawer query archive memory vector commit branch release lock server client request cache thread mutex
because after before between without should could would where there then still again already never always during until
decided changed measured removed added fixed wrote moved tested reviewed deployed migrated configured created built pushed
search write read open close flush merge rebuild restore backup copy rename delete update insert select count order group
table column row page block segment queue threshold batch window timeout retry error warning crash signal process kernel
morning evening meeting question answer reason evidence figure graph report budget deadline customer team review plan risk
garden river stone silver copper paper letter lamp clock bridge harbor winter summer night ledger engine socket closet room
wing hall tunnel corner window stair tower gate wall roof cellar kitchen market road mountain forest island coast valley
small large slow fast early late certain possible careful simple broken healthy empty full quiet loud bright dark heavy light
protocol schema migration fixture benchmark latency throughput checksum snapshot replica cluster network packet buffer stream
Anna Berta Carlos Dmitri Elena Farid Grace Hiro Ines Jonas Priya Samuel naïve café résumé coöperate façade
`)

// entities are the capitalised names that MemPalace would find in a text.
var entities = []string{"Anna", "Berta", "Carlos", "Dmitri", "Elena", "Farid", "Grace", "Hiro", "Ines", "Jonas", "Priya", "Samuel"}

// prose is n characters of text, led by a mark that occurs nowhere else.
func prose(r *rand.Rand, mark string, n int) string {
	var b strings.Builder
	b.WriteString(mark)
	b.WriteString(": ")
	chars, start := len(mark)+2, true
	for chars < n {
		// Squaring favours the front of the list, as speech does.
		f := r.Float64()
		w := words[int(f*f*float64(len(words)))]
		if start {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		end := " "
		switch start = r.IntN(12) == 0; {
		case start && r.IntN(5) == 0:
			end = ".\n\n"
		case start:
			end = ". "
		case r.IntN(14) == 0:
			end = ", "
		}
		b.WriteString(w)
		b.WriteString(end)
		chars += len([]rune(w)) + len(end)
	}
	text := []rune(b.String())[:n]
	// A chunk is stripped before it is filed: neither end is blank.
	if n > 0 && (text[n-1] == ' ' || text[n-1] == '\n') {
		text[n-1] = '.'
	}
	return string(text)
}
