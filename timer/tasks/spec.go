// Package tasks has what can be done about tasks, asked for by values: a task that is to be made and a change of one are the same
// request, said of no task or of the one there is. It knows no options, no streams and no store but the one that it is given.
package tasks

import (
	"cmp"
	"context"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Spec is what a request says of a task. What is nil was not said, and an empty text takes back what was said before.
type Spec struct {
	Description, Text *string
	Tags              []string // nil: not said
	On                []string // nodes of a fleet, or labels of theirs; nil: not said

	// When: a text, in the form that it is to be read in, and what bounds and moves the instants. The first instant is to be Expect.
	When       *string
	Form       when.Form
	Start, End *string
	Count      *int
	Except     []string // days that are left out, or "file:" and the absolute path of a file of them; nil: not said
	Zone       *string
	Jitter     *string
	Share      *Share // of a span that many tasks are dealt out over
	Expect     *string
	After      []string // in the place of a time: ID, ID:ok, ID:failed, ID:any of tasks whose runs are waited for; nil: not said

	// The name that the task has once, and whether what has it already is changed to this.
	Key     *string
	Replace bool

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
	Retries, Factor          *int
	If, UntilOutput          *string
	Rerun, UntilOK           *bool

	// What its command may use of the machine.
	Nice                *int
	IONice, Memory, CPU *string

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

// elsewhere is what a command gets that runs on another machine: the folder of its user and the paths of the system.
func (s *Surroundings) elsewhere() *Surroundings {
	env := map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	for _, name := range []string{"HOME", "USER", "LOGNAME", "LANG", "OURO_STORE"} {
		if value, ok := s.Env[name]; ok {
			env[name] = value
		}
	}
	return &Surroundings{Dir: cmp.Or(s.Env["HOME"], "/"), Umask: s.Umask, Env: env}
}

// Awaited finds the task that another waits for: the one that an ID, the beginning of one or a key names.
type Awaited func(ctx context.Context, id string) (state.Entry, error)

// World is what a request is judged by.
type World struct {
	Clock    clock.Clock
	Times    func() (when.Options, error) // what times are read against
	Origin   func() (string, error)       // the task that the request came of; empty for none
	Settings func() (state.Config, error)
	File     func() string // where the settings are, for people
	Around   func() (*Surroundings, error)
	Here     func() (state.Node, error) // this machine, as a fleet knows it
	Environ  func() []string
	Terminal func() string // the one that the request was made on; empty for none
	Boot     func() string // the name of this boot of the machine; empty for none
	Piped    bool          // standard input may have a script that nobody has asked for
	Programs *needs.Finder
	Find     Awaited
}
