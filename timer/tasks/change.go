package tasks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Change makes or changes a task as a request says.
type Change struct {
	World
	Spec
	Task   state.Task
	Due    time.Time
	Now    time.Time      // the present against which the time was read
	Sched  *when.Schedule // set when the request has a new time
	Passed *state.Line    // the instants of the old schedule that have come without a run
	Fields []string       // the fields of the task that have changed

	// Interpreter is the program in the first line of the script, when that is not the shell; empty
	// for none.
	Interpreter string

	was     state.Entry
	adds    bool // the task is new
	offered bool // the time is a candidate that is offered for another one
	charged bool // it was counted in the quota of its origin for an hour
	noEnv   bool // it takes back the variables that were named before
}

// The parts of a change. Each has functions of its own and sees the whole change.
type (
	timing   struct{ *Change } // when the task is due
	wording  struct{ *Change } // what a text says about that
	awaiting struct{ *Change } // whose end it waits for
	doing    struct{ *Change } // what it does
	telling  struct{ *Change } // who is told
)

// Adding begins the change that makes a task.
func Adding(w World, s Spec) *Change { return &Change{World: w, Spec: s, adds: true} }

// editing begins a change of a task at now.
func editing(w World, s Spec, e state.Entry, now time.Time) *Change {
	c := &Change{World: w, Spec: s, Task: e.Task, Due: e.Due, Now: now, was: e}
	if slices.Equal(s.Env, []string{""}) { // an empty value takes back what was set before
		c.noEnv, c.Env = true, []string{}
	}
	return c
}

// Apply makes the change in memory. It refuses what would not do what it seems to say.
func (c *Change) Apply(ctx context.Context) error {
	t := &c.Task
	set(&t.Description, c.Description)
	set(&t.Text, c.Text)
	if err := c.places(); err != nil {
		return err
	}
	if err := c.tags(); err != nil {
		return err
	}
	if err := (timing{c}).time(ctx); err != nil {
		return err
	}
	if err := c.keyAndOrigin(); err != nil {
		return err
	}
	if err := (doing{c}).job(ctx); err != nil {
		return err
	}
	if err := c.reminder(); err != nil {
		return err
	}
	if t.Type() == state.TypeMessage && strings.TrimSpace(t.Text) == "" {
		return problem.Of(problem.T("nothing would be left to do at that time"), problem.T("give a text with %s, or a command; %s cancels the task", problem.Option("task"), problem.To("rm", t.ID)))
	}
	if err := c.policy(); err != nil {
		return err
	}
	if c.adds {
		t.Created = c.Now.UTC()
		if err := (timing{c}).checkTime(); err != nil {
			return err
		}
		return doing{c}.checkAllowed(ctx)
	}
	if err := (timing{c}).expect((timing{c}).instant()); err != nil {
		return err
	}
	c.Fields = differences(c.was.Task, c.Task, c.was.Due, c.Due)
	if rescheduled(c.Fields) {
		if err := (timing{c}).checkTime(); err != nil {
			return err
		}
	} else {
		c.Passed = nil
	}
	if slices.ContainsFunc(c.Fields, func(field string) bool {
		return slices.Contains([]string{"command", "agent", "shell", "script", "program", "dir", "env", "if"}, field)
	}) {
		return doing{c}.checkAllowed(ctx)
	}
	return nil
}

// Done is the result of a request.
type Done struct {
	*Change
	Entry, Was state.Entry
	// Of a request that adds: when neither is set, the task that has the key was kept as it was.
	Created, Replaced bool
	Differs           []string // in which fields the request differs from the task that had the key
}

// ErrOver is the refusal to change a task that has ended meanwhile.
var ErrOver = errors.New("it has ended")

// Edit changes a task as a request says. When somebody else changes it meanwhile, or a runner takes
// an occurrence, Edit applies the request to the new state.
func Edit(ctx context.Context, w World, s Spec, found state.Tasks, st state.TaskWriter, e state.Entry) (Done, error) {
	now, charged := w.Clock.Now(), false
	for try := 0; ; try++ {
		c := editing(w, s, e, now)
		if err := c.Apply(ctx); err != nil {
			return Done{}, err
		}
		c.charged = charged
		after, err := c.write(ctx, st)
		if err == nil {
			return Done{Change: c, Entry: after, Was: e}, nil
		}
		charged = c.charged
		if !errors.Is(err, state.ErrConflict) && !errors.Is(err, state.ErrTaken) {
			return Done{}, err
		}
		if try == Attempts {
			return Done{}, problem.New(problem.Busy, problem.T("task %s is being changed by others all the time", e.Task.ID), problem.T("call again in a moment"))
		}
		if e, err = Reread(ctx, found, e); err != nil {
			return Done{}, err
		}
		if !Live(e) {
			return Done{Entry: e}, ErrOver
		}
	}
}

// write writes the change, if there is one. The instants that have come get their outcome in the
// same transaction.
func (c *Change) write(ctx context.Context, st state.TaskWriter) (state.Entry, error) {
	e := c.was
	if len(c.Fields) == 0 {
		return e, nil
	}
	if rescheduled(c.Fields) && !c.charged {
		origin, err := c.Origin()
		if err == nil && origin != "" {
			err = st.Charge(ctx, origin, c.Clock.Now())
		}
		if err != nil {
			return e, err
		}
		c.charged = true
	}
	// in a dry run, an earlier request has made the task, and the store does not have it
	if e.Task.ID == "" {
		e.Task, e.Due = c.Task, c.Due
		return e, nil
	}
	due := c.Due
	if due.Equal(e.Due) {
		due = time.Time{}
	}
	after, err := st.Update(ctx, c.Task, due, c.Now, c.Passed)
	if errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) {
		return e, state.ErrTaken // by a runner or an rm; the next attempt sees it
	}
	return after, err
}
