// Package ui is the vocabulary of the terminal interface: widgets and the shell
// around them, with no idea of what a palace is.
//
// # How the pieces fit
//
// Widgets are plain structs: methods change them in Update, View draws them from
// what they hold and from nothing else. None sends messages to another. What has
// to wait (a tick, a copy) comes back as a tea.Cmd for Update to return.
//
//	Layout, Frame, Compose   where things go at a size, and putting them there
//	Table, Provider          lists: columns by priority, filter, sort, marks
//	Gauge, Strip, Stack, Bar figures in words and bars
//	Pager, Reader            long text, scrolled and searched
//	Line, Field              text in roles, labelled paragraphs
//	Registry, Command        keys, footer, help and palette from one record
//	Overlay, Confirm, Menu,  dialogs, topmost first
//	Palette
//	Input                    a line of typed text
//	Toasts, Log              what happened
//	Busy, Progress           what is happening
//	Clipboard                copying, near and far
//	Through, SplitKeys       keys before anything else
//
// # Order of a key
//
// The root model looks for the keys that work everywhere (Through), tells
// Toasts.KeyPressed, and passes the message to Overlay.Dispatch: the topmost
// dialog, then the input that has the focus, then the screen's Registry, each key
// for itself. Bubble Tea joins keys typed quickly; Dispatch takes them apart where
// that is right.
//
// # Text
//
// Everything a widget is given may come from a stored document and be hostile.
// Widgets clean it, package text does the work. Only strings that go to Compose
// and Overlay.View are painted already; paint nothing before giving it to a
// widget, give it a role.
//
// # Rules every frame keeps
//
// As many lines and cells as asked for, never more; no control character but
// colours; the same text with colour and without. Package uitest checks them.
package ui
