// Package cli is Castellan as commands: tables for people, JSON for programs.
//
// What the commands print is made by the same code as what the screens show.
// A command is thin: it finds the palace, asks, and hands the answer to a
// printer. Standard output carries the answer and nothing else; everything
// said to a person about it goes to standard error.
package cli
