package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/option"
)

// Command is one row of the table of commands.
type Command struct {
	Name  string
	Args  string // the arguments, as the usage line shows them
	Short string // what it does, in one line
	Long  string // what it does, in paragraphs
	// Examples are calls that work. The first is the one to learn.
	Examples []string
	// Arguments are the arguments before "--". Options may replace those that are not required.
	Arguments []option.Argument
	Options   option.Rows
	Tail      bool // what follows "--" is a command, and not more arguments
	// Ids says what the arguments name, for completion: tasks that are live, paused, running,
	// removed or any; items or one item of the inbox; or nothing, if it is empty.
	Ids     string
	Answers []Shape // the shapes of its answers in JSON, without errors
	Exits   []int   // the exit codes that ExitsOf does not add by itself
	Passes  bool    // it passes on the exit code of a command that it runs
	Hidden  bool
	// InAnyEnvironment commands run even when CheckEnvironment refuses a variable.
	InAnyEnvironment bool
	// Brief commands are soon over and show no progress. A signal ends them as it ends any program,
	// unless they wait for something.
	Brief bool
	Run   func(ctx context.Context, s *Call) error
}

// Table has all commands in the order of the help. A command is made when it is needed, because
// making all of them would be most of the work of a short call.
type Table []Row

// Row is a command that can be made.
type Row struct {
	Name string
	Make func() Command
}

// Find returns the command of that name, or nil.
func (t Table) Find(name string) *Command {
	for _, row := range t {
		if row.Name == name {
			c := row.Make()
			return &c
		}
	}
	return nil
}

// All makes every command.
func (t Table) All() []Command {
	list := make([]Command, len(t))
	for i, row := range t {
		list[i] = row.Make()
	}
	return list
}

// Syntax is what the command takes.
func (c *Command) Syntax() option.Syntax {
	return option.Syntax{Command: c.Name, Options: c.Options, Tail: c.Tail}
}

// Shape is one form of the answers of a command in JSON.
type Shape struct {
	// Name is the name of its schema, docs/schemas/NAME.json. A name stands for one type, in
	// whichever commands.
	Name   string
	Of     any    // a value of its type
	Means  string // what the answer is, or which calls it answers, in one line
	Stream bool   // the answer has a line with one object for each event
	// Given names the options that a call must have, or must not have (!NAME), to get this answer.
	// Any call gets it if Given is empty. A comma is between alternatives.
	Given string
}

// fits reports whether a call with these options can get this answer.
func (a Shape) fits(given option.Values) bool {
	return slices.ContainsFunc(strings.Split(a.Given, ","), func(names string) bool {
		return !slices.ContainsFunc(strings.Fields(names), func(name string) bool {
			absent, no := strings.CutPrefix(name, "!")
			return given.Has(absent) == no
		})
	})
}
