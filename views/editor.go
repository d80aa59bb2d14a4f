package views

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"castellan/theme"
)

// editMsg says that a source file can be opened, or why not.
type editMsg struct {
	path string
	err  error
}

// SourceGoneError says that a drawer's source file cannot be opened.
type SourceGoneError struct {
	Path string
	Err  error
}

func (e *SourceGoneError) Error() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return "The source file is not there any more; the drawer keeps its text: " + e.Path
	}
	return fmt.Sprintf("The source file cannot be opened, %v; the drawer keeps its text: %s", e.Err, e.Path)
}

// Unwrap is what the operating system said.
func (e *SourceGoneError) Unwrap() error { return e.Err }

// openEditor looks whether the file is there, and then hands the terminal to the
// editor.
func (a *App) openEditor(path string) tea.Cmd {
	return a.work.do(func(context.Context) tea.Msg {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return editMsg{err: &SourceGoneError{path, err}}
		case !info.Mode().IsRegular():
			return editMsg{err: &SourceGoneError{path, errors.New("it is no regular file")}}
		}
		return editMsg{path: path}
	})
}

// edit hands the terminal to the editor.
func (a *App) edit(m editMsg) tea.Cmd {
	if m.err != nil {
		return a.say(theme.Fail, m.err.Error())
	}
	words := editorWords(a.opts.Getenv)
	if len(words) == 0 {
		return a.say(theme.Warn, "No editor is set: put its name into VISUAL or EDITOR. The file is "+m.path+".")
	}
	a.paused = true
	// No shell: the path comes out of a palace. It is absolute or given by
	// "./", so that no editor takes it for an option.
	path := m.path
	if strings.HasPrefix(path, "-") || strings.HasPrefix(path, "+") {
		path = "./" + path
	}
	cmd := exec.Command(words[0], append(words[1:], path)...)
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		if err != nil {
			err = fmt.Errorf("%s: %w", words[0], err)
		}
		return resumedMsg{err}
	})
}

// editorWords is the editor and its arguments, as git and others split them:
// at blanks, with nothing expanded.
func editorWords(getenv func(string) string) []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := strings.Fields(getenv(name)); len(words) > 0 {
			return words
		}
	}
	return nil
}
