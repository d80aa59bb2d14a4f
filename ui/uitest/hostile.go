package uitest

import "strings"

// Hostile are texts that have broken terminal programs, for tests of whatever
// shows stored text: escape sequences, wide and combining characters, text from
// right to left, and characters of absurd length.
func Hostile() []string {
	return []string{
		"",
		" ",
		"漢字の棟",
		"👩‍👩‍👧‍👦 family 👨🏻‍🚀",
		"🇩🇪🇫🇷 flags 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
		"e\u0301a\u0308o\u0302\u0323",
		"क्षत्रिय हिन्दी",
		"ᄀᄀᄀ 각",
		"שלום \u202eoverride\u202c عليكم",
		"ไทยกำ",
		"✔️ 1️⃣ ☎︎",
		"tab\tand\nbreak\r\nand\rreturn",
		"\x1b[31mred\x1b[0m \x1b[2J\x1b[H",
		"\x1b]52;c;ZXZpbA==\x07 \x1b]0;title\x1b\\ \x1b]8;;http://x\x1b\\link",
		"unfinished \x1b]0;title",
		"\u009b31mc1\u009d0;t\u009c \x9b31m",
		"\x00\x01\x07\x08\x7f\xff\xfe\xc3",
		"z" + strings.Repeat("\u0301", 500) + "algo",
		strings.Repeat("👩\u200d", 300),
		strings.Repeat("漢", 3000),
		strings.Repeat("a", 5000),
	}
}
