// Package tasks has the operations on tasks, with requests as values. Making a task and changing
// one take the same request. It knows no options, no streams and no store except the one that it is
// given.
package tasks

import (
	"context"
	"reflect"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Spec is a request about a task. A nil field was not given, and an empty text removes what was set
// before. The tag of a field is the option that gives it.
type Spec struct {
	Description *string  `option:"description"`
	Text        *string  `option:"task"`
	Tags        []string `option:"tag"`
	On          []string `option:"on"` // nodes of a fleet, or their labels

	// When: a text, the form in which it is read, and what bounds and moves the instants. The first
	// instant must be Expect.
	When   *string
	Form   when.Form
	Start  *string `option:"start"`
	End    *string `option:"end"`
	Count  *int    `option:"count"`
	Zone   *string `option:"tz"`
	Jitter *string `option:"jitter"`
	Share  *Share  // when many tasks are spread over a duration
	Expect *string `option:"expect"`
	// days that are left out, or "file:" and the absolute path of a file of days
	Except []string `option:"except"`
	// instead of a time: ID, ID:ok, ID:failed or ID:any of tasks whose runs are waited for
	After []string `option:"after"`

	// Key: the unique name of the task, and whether a task that has it is changed to this request.
	Key     *string `option:"key"`
	Replace bool    `option:"replace"`

	// What happens: at most one of the first four.
	Command []string
	Shell   *string `option:"c"` // a line for a shell
	Script  func(context.Context) (string, error)
	Agent   *string  `option:"agent"` // a program with its arguments, in one line
	Program *string  `option:"shell"` // the shell that runs a line or a script
	Env     []string `option:"env"`   // NAME or NAME=VALUE

	// What an agent is told.
	Title    *string `option:"title"`
	Project  *string `option:"project"`
	Priority *string `option:"priority"`
	Request  *bool   `option:"rpc-request"`

	// What happens to occurrences that do not go as planned.
	Catchup     *string `option:"catchup"`
	Overlap     *string `option:"overlap"`
	Window      *string `option:"window"`
	Timeout     *string `option:"timeout"`
	Backoff     *string `option:"backoff"`
	Retries     *int    `option:"retries"`
	Factor      *int    `option:"backoff-factor"`
	If          *string `option:"if"`
	UntilOutput *string `option:"until-output"`
	UntilOK     *bool   `option:"until-ok"`
	Rerun       *bool   `option:"rerun-interrupted"`

	// What the command may use of the machine.
	Nice   *int    `option:"nice"`
	IONice *string `option:"ionice"`
	Memory *string `option:"memory"`
	CPU    *string `option:"cpu"`

	// Who is told.
	Notify   []string `option:"notify"`
	Webhook  []string `option:"webhook"`
	NotifyOn *string  `option:"notify-on"`
	Prefix   *string  `option:"prefix"`

	Sample bool // it stands for others, whose command is not known yet
}

// fields are the indexes of the fields of a Spec by the options that give them.
var fields = sync.OnceValue(func() map[string]int {
	all := map[string]int{}
	for i, f := range reflect.VisibleFields(reflect.TypeFor[Spec]()) {
		if name := f.Tag.Get("option"); name != "" {
			all[name] = i
		}
	}
	return all
})

// Set sets the field of an option to its value: a string, int, bool or []string, as the field is.
// The values of other options change nothing.
func (s *Spec) Set(option string, value any) {
	i, ok := fields()[option]
	if !ok {
		return
	}
	field, v := reflect.ValueOf(s).Elem().Field(i), reflect.ValueOf(value)
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(v.Type()))
		field = field.Elem()
	}
	field.Set(v)
}

// given returns the first of the options that the request has; empty for none.
func (s *Spec) given(options ...problem.Option) problem.Option {
	for _, name := range options {
		i, ok := fields()[string(name)]
		if !ok {
			panic("a request has no option " + string(name))
		}
		if !reflect.ValueOf(s).Elem().Field(i).IsZero() {
			return name
		}
	}
	return ""
}

// aboutTimes returns an option of the request that is about instants; empty when it has none.
func (s *Spec) aboutTimes() problem.Option {
	if s.Share != nil {
		return "spread"
	}
	return s.given("start", "end", "count", "except", "jitter", "expect")
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
	Piped    func() bool   // standard input may be a script that nobody asked for
	Programs *needs.Finder
	Find     Awaited
}
