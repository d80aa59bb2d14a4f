package theme

import (
	"os"

	"github.com/charmbracelet/lipgloss"
)

// Bubble Tea v1 asks the terminal for its background colour in a package init
// and waits up to five seconds for one that does not answer, even for
// --version. Answering for it beforehand is the only way out, and it must happen
// before that init.
//
// Go initialises packages in the order of their import paths, each as soon as
// its own imports are done. "castellan/theme" sorts before
// "github.com/charmbracelet/bubbletea", and everything it imports Bubble Tea
// imports too, so this init comes first. Both halves matter: keep this
// package's imports to lipgloss, termenv and common parts of the standard
// library, and never put a host before the module's name. A test starts a
// program on a silent pseudo-terminal and looks for the question.
func init() {
	lipgloss.SetHasDarkBackground(backgroundFrom(os.Getenv) != LightBackground)
}
