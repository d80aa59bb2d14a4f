package theme

// The high-contrast theme dims nothing and keeps a contrast of 7 (WCAG AAA).

// contrastLooks uses no colour at all: the terminal's own pair has the best
// contrast to be had without knowing its background.
func contrastLooks() *[roleCount]look {
	bold := look{bold: true}
	strong := look{bold: true, underline: true}
	reverse := look{bold: true, reverse: true}
	return &[roleCount]look{
		Title:    bold,
		Header:   strong,
		Key:      bold,
		Accent:   bold,
		Warning:  bold,
		Error:    strong,
		Danger:   {bold: true, underline: true, reverse: true},
		Held:     bold,
		Selected: reverse,
		Marked:   strong,
		Match:    reverse,
		Focused:  reverse,
	}
}

func contrastDarkLooks() *[roleCount]look {
	white := color{"#ffffff", "231", "15"}
	black := color{"#000000", "16", "0"}
	yellow := color{"#ffff00", "226", "11"}
	looks := contrastLooks()
	paint := func(c color, roles ...Role) {
		for _, r := range roles {
			looks[r].fg = c
		}
	}
	paint(white, Text, Faint, Title, Header, Border, Disabled)
	paint(color{"#87d7ff", "117", "14"}, Key, Accent, Info)
	paint(color{"#5fff5f", "83", "10"}, OK)
	paint(yellow, Warning, Marked)
	paint(color{"#ffafaf", "217", "9"}, Error)
	paint(color{"#ffafff", "219", "13"}, Held)
	looks[Danger] = look{fg: white, bg: color{"#870000", "88", "1"}, bold: true, underline: true, reverse16: true}
	looks[Selected] = look{fg: black, bg: white, bold: true, reverse16: true}
	looks[Match] = look{fg: black, bg: yellow, bold: true, reverse16: true}
	looks[Focused] = look{fg: black, bg: yellow, bold: true, reverse16: true}
	return looks
}

func contrastLightLooks() *[roleCount]look {
	white := color{"#ffffff", "231", "15"}
	black := color{"#000000", "16", "0"}
	navy := color{"#00005f", "17", "4"}
	looks := contrastLooks()
	paint := func(c color, roles ...Role) {
		for _, r := range roles {
			looks[r].fg = c
		}
	}
	paint(black, Text, Faint, Title, Header, Border, Disabled)
	paint(navy, Key, Accent, Info)
	paint(color{"#004400", "22", "2"}, OK)
	paint(color{"#5f3f00", "52", "1"}, Warning, Marked)
	paint(color{"#870000", "88", "1"}, Error)
	paint(color{"#5f0087", "54", "5"}, Held)
	looks[Danger] = look{fg: white, bg: color{"#870000", "88", "1"}, bold: true, underline: true, reverse16: true}
	looks[Selected] = look{fg: white, bg: black, bold: true, reverse16: true}
	looks[Match] = look{fg: white, bg: navy, bold: true, reverse16: true}
	looks[Focused] = look{fg: white, bg: navy, bold: true, reverse16: true}
	return looks
}
