// Package tasks has what can be done about tasks, asked for by values: a task that is to be made and a change of one are the same
// request, said of no task or of the one there is. It knows no options, no streams and no store but the one that it is given.
package tasks

import (
	"context"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/needs"
)

// Spec is what a request says of a task. What is nil was not said, and an empty text takes back what was said before.
type Spec struct {
	Description, Text *string

	// What is to happen: at most one of the first four.
	Command []string
	Shell   *string // a line for a shell
	Script  func(context.Context) (string, error)
	Agent   *string  // a program with its arguments, in one line
	Program *string  // the shell that runs a line or a script
	Env     []string // NAME, or NAME=VALUE

	// What an agent is told.
	Title, Project, Priority *string
	Request                  *bool

	// What becomes of occurrences that do not go by the plan.
	Catchup, Overlap         *string
	Window, Timeout, Backoff *string // lengths of time
	Retries                  *int
	If, UntilOutput          *string
	Rerun, UntilOK           *bool

	// Who is told.
	Notify, Webhook  []string // nil: not said
	NotifyOn, Prefix *string

	Sample bool // it stands for others, whose command is not known yet
}

// set gives a field what was said of it.
func set[T any](to *T, said *T) {
	if said != nil {
		*to = *said
	}
}

// orEmpty is what was said; nothing when nothing was.
func orEmpty[T any](said *T) (value T) {
	set(&value, said)
	return value
}

// Surroundings are what a command gets of where it was scheduled.
type Surroundings struct {
	Dir   string
	Umask int
	Env   map[string]string // never changed: many tasks may share it
}

// World is what a request is judged by.
type World struct {
	Settings func() (state.Config, error)
	File     func() string // where the settings are, for people
	Around   func() (*Surroundings, error)
	Environ  func() []string
	Terminal func() string // the one that the request was made on; empty for none
	Programs *needs.Finder
}

// Change makes of a task what a request says.
type Change struct {
	World
	Spec
	Task state.Task // as it is so far
	was  state.Task
	adds bool // there was no task before

	// Interpreter is what the first line of the script names, when another program runs it; empty for none.
	Interpreter string
}

// Adding begins the change that makes a task.
func Adding(w World, s Spec) *Change { return &Change{World: w, Spec: s, adds: true} }

// Editing begins a change of a task.
func Editing(w World, s Spec, t state.Task) *Change {
	return &Change{World: w, Spec: s, Task: t, was: t}
}

// Texts gives the task its description and its text.
func (c *Change) Texts() {
	set(&c.Task.Description, c.Description)
	set(&c.Task.Text, c.Text)
}
