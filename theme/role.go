package theme

// Role is what a piece of text is for; a theme decides how that looks.
type Role uint8

const (
	Text     Role = iota // running text: the terminal's own colour
	Faint                // secondary: units, hints, what is not there
	Title                // breadcrumb, dialog title
	Header               // column titles
	Border               // rules and frames
	Key                  // a key in a help line
	Accent               // what the eye should find: bars, links, matches in prose
	OK                   // a good verdict
	Info                 // worth knowing
	Warning              // it works, look at it
	Error                // wrong or incomplete
	Danger               // may crash or lose data
	Held                 // a palace in somebody's hands; also "working"
	Selected             // the row under the cursor, edge to edge
	Marked               // a row marked for an action
	Match                // what a search found
	Focused              // the button or field that enter would act on
	Disabled             // a command that cannot act now

	roleCount
)
