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

// Change makes of a task what a request says.
type Change struct {
	World
	Spec
	Task   state.Task
	Due    time.Time
	Now    time.Time      // the present that the time was read against
	Sched  *when.Schedule // when the time is given anew
	Passed *state.Line    // the instants of the old schedule that came and were not run, and now never are
	Fields []string       // what is different in the task that there was

	// Interpreter is what the first line of the script names, when another program runs it; empty for none.
	Interpreter string

	was     state.Entry
	adds    bool // there was no task before
	offered bool // the time is one that is offered in the place of another
	charged bool // it was counted among what a run of a task may do in an hour
}

// The parts of a change that have functions of their own: each sees the whole.
type (
	timing   struct{ *Change } // when it is due
	wording  struct{ *Change } // what a text says of that
	awaiting struct{ *Change } // whose end it waits for
	doing    struct{ *Change } // what it does then
	telling  struct{ *Change } // who is told
)

// Adding begins the change that makes a task.
func Adding(w World, s Spec) *Change { return &Change{World: w, Spec: s, adds: true} }

// editing begins a change of a task, at now.
func editing(w World, s Spec, e state.Entry, now time.Time) *Change {
	return &Change{World: w, Spec: s, Task: e.Task, Due: e.Due, Now: now, was: e}
}

// Apply makes the change, and refuses what would not do what it looks like. Nothing is written.
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
	if err := c.name(); err != nil {
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
	if slices.ContainsFunc(c.Fields, aboutRunning) {
		return doing{c}.checkAllowed(ctx)
	}
	return nil
}

// aboutRunning reports whether a field is about what is executed.
func aboutRunning(field string) bool {
	return slices.Contains([]string{"command", "agent", "shell", "script", "program", "dir", "env", "if"}, field)
}

// Done is what became of a request.
type Done struct {
	*Change
	Entry, Was        state.Entry
	Created, Replaced bool     // of one that adds: when neither, the task that has the key was kept as it was
	Differs           []string // what a request says differently from the task that had the key
}

// ErrOver is the refusal of a task that ended while it was being changed.
var ErrOver = errors.New("it has ended")

// Edit changes a task to what a request says. When somebody else changes it meanwhile, or a runner takes an occurrence, it is changed as
// it is then: the request says its own part only.
func Edit(ctx context.Context, w World, s Spec, found state.Tasks, st state.Changes, e state.Entry) (Done, error) {
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

// write makes the change, if there is any. The instants that have come get their outcome in the same change.
func (c *Change) write(ctx context.Context, st state.Changes) (state.Entry, error) {
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
	if e.Task.ID == "" { // of a request before this one, which is not made in earnest: it is nowhere to be looked for
		e.Task, e.Due = c.Task, c.Due
		return e, nil
	}
	due := c.Due
	if due.Equal(e.Due) {
		due = time.Time{}
	}
	after, err := st.Replace(ctx, c.Task, due, c.Now, c.Passed)
	if errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) {
		return e, state.ErrTaken // by a runner or an rm: the next look tells
	}
	return after, err
}
