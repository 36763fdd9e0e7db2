// Package tasks has the operations on tasks, with requests as values. Making a task and changing
// one take the same request. It knows no options, no streams and no store except the one that it is
// given.
package tasks

import (
	"context"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Spec is a request about a task. A nil field was not given, and an empty text removes what was set
// before.
type Spec struct {
	Description, Text *string
	Tags              []string // nil when not given
	On                []string // nodes of a fleet, or their labels; nil when not given

	// When: a text, the form in which it is read, and what bounds and moves the instants. The first
	// instant must be Expect.
	When       *string
	Form       when.Form
	Start, End *string
	Count      *int
	// days that are left out, or "file:" and the absolute path of a file of days; nil when not
	// given
	Except []string
	Zone   *string
	Jitter *string
	Share  *Share // when many tasks are spread over a duration
	Expect *string
	// instead of a time: ID, ID:ok, ID:failed or ID:any of tasks whose runs are waited for; nil
	// when not given
	After []string

	// Key: the unique name of the task, and whether a task that has it is changed to this request.
	Key     *string
	Replace bool

	// What happens: at most one of the first four.
	Command []string
	Shell   *string // a line for a shell
	Script  func(context.Context) (string, error)
	Agent   *string  // a program with its arguments, in one line
	Program *string  // the shell that runs a line or a script
	Env     []string // NAME or NAME=VALUE

	// What an agent is told.
	Title, Project, Priority *string
	Request                  *bool

	// What happens to occurrences that do not go as planned.
	Catchup, Overlap         *string
	Window, Timeout, Backoff *string // durations
	Retries, Factor          *int
	If, UntilOutput          *string
	Rerun, UntilOK           *bool

	// What the command may use of the machine.
	Nice                *int
	IONice, Memory, CPU *string

	// Who is told.
	Notify, Webhook  []string // nil when not given
	NotifyOn, Prefix *string

	Sample bool // it stands for others, whose command is not known yet
}

// set sets a field if the request has a value for it.
func set[T any](to *T, said *T) {
	if said != nil {
		*to = *said
	}
}

// orEmpty returns a value of the request, or the empty value when it was not given.
func orEmpty[T any](said *T) (value T) {
	set(&value, said)
	return value
}

// Surroundings are what a command gets from where it was scheduled.
type Surroundings struct {
	Dir   string
	Umask int
	Env   map[string]string // never changed, because many tasks may share it
}

// elsewhere returns what a command gets that runs on another machine: the paths of the system. Its
// folder and the variables of its user are those of the runner there (runner.AtHome).
func (s *Surroundings) elsewhere() *Surroundings {
	env := map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	if value, ok := s.Env["OURO_STORE"]; ok {
		env["OURO_STORE"] = value
	}
	return &Surroundings{Umask: s.Umask, Env: env}
}

// Awaited finds a task that another waits for, by its ID, the beginning of its ID or its key.
type Awaited func(ctx context.Context, id string) (state.Entry, error)

// World is what a request depends on.
type World struct {
	Clock    clock.Clock
	Times    func() (when.Options, error) // the context in which times are read
	Origin   func() (string, error)       // the task whose run makes the request; empty for none
	Settings func() (state.Config, error)
	File     func() string // where the settings are, for people
	Around   func() (*Surroundings, error)
	Here     func() (state.Node, error) // this machine, as a fleet knows it
	Environ  func() []string
	Terminal func() string // the terminal of the request; empty for none
	Boot     func() string // the name of this boot of the machine; empty for none
	Piped    bool          // standard input may be a script that nobody asked for
	Programs *needs.Finder
	Find     Awaited
}
