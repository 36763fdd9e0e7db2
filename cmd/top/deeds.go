package top

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/manage"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// doer carries out what keys ask for. Each method may take long, runs beside others, and answers
// with a message for the model.
type doer interface {
	look(filter string) tea.Msg // found
	show(of subject) tea.Msg    // detail
	grow(id string) tea.Msg     // wrote
	read(typed) tea.Msg         // echo
	enter(typed) tea.Msg        // did
	pause(state.Entry) tea.Msg  // did; a paused task is resumed
	fire(state.Entry) tea.Msg
	stop(e state.Entry, kill bool) tea.Msg
	remove(state.Entry) tea.Msg
	restore() tea.Msg
	acknowledge(ids []string) tea.Msg
}

// These are the messages to the model.
type (
	changed struct{} // something in the store has changed
	found   struct {
		seen
		err error
	}
	wrote struct{ id string } // a run of the task has written something
	did   struct {            // something was done, or could not be
		text   string
		failed bool
		closes bool // the typed line is done
		fired  int  // how many runs fire began here, or ended
	}
	echo struct { // the meaning of the typed line
		of      typed
		meaning string
		fault   string
	}
)

// typed is a line that the user types: about a task that is changed, or about a new one.
type typed struct {
	line string
	of   state.Entry // its ID is empty for a new one
}

// subject is what a detail is about: a task, a run, an item or a line.
type subject struct {
	key  string
	task *state.Entry
	run  *ran
	item *state.Item
	line *state.Line
}

// deeds carries out what keys ask for in the store.
type deeds struct {
	ctx   context.Context
	s     *cli.Call
	st    state.Store
	zone  *time.Location
	times cli.Locale
	fired sync.WaitGroup
	mu    sync.Mutex
	stop1 context.CancelFunc // ends the watch of the run before
}

// call makes a new call for each deed, because a call keeps what it finds out, and many deeds run
// at once.
func (d *deeds) call() *cli.Call {
	one := *d.s
	one.DefaultZone = d.zone
	return &one
}

func (d *deeds) failed(err error) did {
	p := cli.Explain(err)
	text := cli.Visible(d.s.Render(p.Message))
	if !p.Hint.Empty() {
		text += "; " + cli.Visible(d.s.Render(p.Hint))
	}
	return did{text: text, failed: true}
}

func (d *deeds) look(filter string) tea.Msg {
	n, err := look(d.ctx, d.st, d.s.Clock.Now(), filter)
	return found{n, err}
}

func (d *deeds) show(of subject) tea.Msg {
	now := d.s.Clock.Now()
	switch {
	case of.task != nil:
		return detail{of.key, of.task.Task.ID, taskDetail(*of.task, d.zone)}
	case of.run != nil:
		return detail{of.key, of.run.id(), written(d.ctx, d.st, of.run.Task.ID, of.run.Number)}
	case of.item != nil:
		return detail{of.key, of.item.ID, itemDetail(d.ctx, d.st, *of.item, now, d.zone)}
	case of.line != nil:
		return detail{of.key, of.line.TaskID, lineDetail(d.ctx, d.st, *of.line, d.zone)}
	}
	return detail{}
}

// growPause is the least time between two looks at the output of a run.
const growPause = 100 * time.Millisecond

// grow waits until a run of the task has written something. It watches one task at a time.
func (d *deeds) grow(id string) tea.Msg {
	ctx, stop := context.WithCancel(d.ctx)
	d.mu.Lock()
	if d.stop1 != nil {
		d.stop1()
	}
	d.stop1 = stop
	d.mu.Unlock()
	written, err := d.st.WatchLog(ctx, id)
	if err != nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-written:
	}
	if d.s.Clock.For(ctx, growPause) != nil {
		return nil
	}
	return wrote{id}
}

func (d *deeds) read(t typed) tea.Msg {
	e := echo{of: t}
	r, err := schedule.ReadTyped(d.call(), t.of.Task.ID, t.line)
	if r.When != nil && *r.When != "" {
		e.meaning = meaningOf(r)
	}
	if err == nil {
		err = d.try(r, t, &e)
	}
	if err != nil {
		e.fault = d.failed(r.Explained(err)).text
	}
	return e
}

// meaningOf is the meaning of the time of a request, if it can be read alone.
func meaningOf(r schedule.Typed) string {
	o, err := r.World.Times()
	if err != nil {
		return ""
	}
	o.Form = r.Form
	sched, err := when.Parse(*r.When, o)
	if err != nil {
		return ""
	}
	next, ok := sched.Next(o.Now)
	if !ok {
		next = sched.At
	}
	return meaning(sched, next, o.Now)
}

// meaning is an instant for people, and the rhythm that begins with it.
func meaning(sched *when.Schedule, due, now time.Time) string {
	text := view.Echo(due.In(now.Location()), now)
	if sched.Kind != when.Once {
		text = cli.Visible(sched.Canonical) + ", first " + text
	}
	return text
}

// try finds out what a request would do, and changes nothing.
func (d *deeds) try(r schedule.Typed, t typed, e *echo) error {
	if t.of.Task.ID == "" {
		c := tasks.Adding(r.World, r.Spec)
		if err := c.Apply(d.ctx); err != nil {
			return err
		}
		e.meaning = meaning(c.Sched, c.Due, c.Now.In(d.zone))
		return nil
	}
	done, err := tasks.Edit(d.ctx, r.World, r.Spec, d.st, d.st.Dry(), t.of)
	if err != nil {
		return err
	}
	e.meaning = "nothing changes"
	if len(done.Fields) > 0 {
		e.meaning = "due " + view.Echo(done.Due.In(d.zone), done.Now.In(d.zone)) + "; changes " +
			strings.Join(done.Fields, ", ")
	}
	return nil
}

func (d *deeds) enter(t typed) tea.Msg {
	r, err := schedule.ReadTyped(d.call(), t.of.Task.ID, t.line)
	var done tasks.Done
	switch {
	case err != nil:
	case t.of.Task.ID != "":
		done, err = tasks.Edit(d.ctx, r.World, r.Spec, d.st, d.st, t.of)
	default:
		c := tasks.Adding(r.World, r.Spec)
		if err = c.Apply(d.ctx); err == nil {
			done, err = c.Add(d.ctx, d.st, func(ctx context.Context) bool {
				return handover.HandOver(ctx, d.call(), d.st).Runner != handover.RunnerNone
			})
		}
	}
	if errors.Is(err, tasks.ErrOver) {
		err = problem.New(problem.Ended, problem.T("it has ended meanwhile"), problem.Text{})
	}
	if err != nil {
		return d.failed(r.Explained(err))
	}
	verb := "changed"
	switch {
	case done.Created:
		verb = "scheduled"
	case t.of.Task.ID == "" && !done.Replaced:
		verb = "kept"
	}
	answer := d.handed(verb, done.Entry)
	answer.closes = true
	return answer
}

// handed makes sure that a runner runs a task, and says what happened to the task.
func (d *deeds) handed(verb string, e state.Entry) did {
	text := verb + " " + e.Task.ID
	if due, now := view.DueOf(e).In(d.zone), d.s.Clock.Now().In(d.zone); due.After(now) {
		text += ", due in " + when.Distance(now, due) + ", " + d.times.Format(due, "Mon 2 Jan 2006 15:04:05 MST")
	}
	text += " (" + view.Describe(e.Task) + ")"
	for _, w := range handover.HandOver(d.ctx, d.call(), d.st).Warnings() {
		return did{text: text + "; " + cli.Visible(d.s.Render(w.Text)), failed: true}
	}
	return did{text: text}
}

// name is a task by its ID and what it is.
func name(e state.Entry) string { return e.Task.ID + " (" + view.Describe(e.Task) + ")" }

func (d *deeds) pause(e state.Entry) tea.Msg {
	now := d.s.Clock.Now()
	if e.Held {
		back := tasks.Resume(d.ctx, d.st, d.st, []state.Entry{e}, now)[0]
		switch {
		case back.Err != nil:
			return d.failed(back.Err)
		case !tasks.Live(back.Entry):
			return did{text: name(e) + " is over: its time passed while it was paused"}
		}
		return d.handed("resumed", back.Entry)
	}
	if e.Task.Type() == state.TypeWait {
		return d.failed(tasks.IsWait(e, "and cannot be paused: time goes by"))
	}
	if held := tasks.Pause(d.ctx, d.st, []state.Entry{e}, time.Time{}, now)[0]; held.Err != nil {
		return d.failed(held.Err)
	}
	return did{text: "paused " + name(e)}
}

func (d *deeds) fire(e state.Entry) tea.Msg {
	d.fired.Add(1)
	defer d.fired.Done()
	o, err := tasks.Firing(d.ctx, schedule.WorldOf(d.call()), d.st, e, false)
	said := ""
	var line state.Line
	if err == nil {
		o.Asked = schedule.NewAgentRequests(d.call(), true).Answer
		o.Say = func(string, ...any) {}
		o.Deliver = func(r state.Record) error {
			said = r.Task.Message()
			return nil
		}
		line, err = runner.Fire(d.ctx, o, e)
	}
	answer := did{text: state.OccurrenceID(line.TaskID, line.Number) + " " + view.OutcomeWords(line),
		failed: line.Outcome != state.OK}
	switch {
	case errors.Is(err, runner.ErrGoing):
		answer = d.failed(manage.GoesOn(e))
	case err != nil:
		answer = d.failed(err)
	case said != "":
		answer.text = cli.Visible(said)
	}
	answer.fired = -1
	return answer
}

func (d *deeds) stop(e state.Entry, kill bool) tea.Msg {
	ctx, cancel := cli.WithBound(d.ctx, d.s.Clock, cli.StopWait)
	defer cancel()
	runs, failed := tasks.Stop(ctx, d.st, d.s.Clock, []state.Entry{e}, kill)
	if len(failed) > 0 {
		return d.failed(failed[0].Err)
	}
	var ended []string
	for _, r := range runs {
		id := state.OccurrenceID(r.Task.ID, r.Number)
		if !r.Over {
			return did{text: id + " was told to end, and goes on; K ends it at once", failed: true}
		}
		ended = append(ended, id)
	}
	return did{text: "ended " + strings.Join(ended, ", ")}
}

func (d *deeds) remove(e state.Entry) tea.Msg {
	if _, failed := tasks.Remove(d.ctx, d.st, []state.Entry{e}, d.s.Clock); len(failed) > 0 {
		return d.failed(failed[0].Err)
	}
	return did{text: "removed " + name(e) + "; u undoes it"}
}

func (d *deeds) restore() tea.Msg {
	list, err := tasks.LastRemoved(d.ctx, d.st, d.st)
	if err != nil {
		return d.failed(err)
	}
	if len(list) == 0 {
		return did{text: "there is no removed task to restore", failed: true}
	}
	var last did
	for _, e := range list {
		back, err := tasks.Restore(d.ctx, d.st, e, d.s.Clock.Now())
		if err != nil {
			return d.failed(err)
		}
		last = d.handed("restored", back)
	}
	return last
}

func (d *deeds) acknowledge(ids []string) tea.Msg {
	for _, err := range tasks.Acknowledge(d.ctx, d.st, d.s.Clock, ids) {
		if err != nil && !errors.Is(err, state.ErrNotFound) { // another call was first
			return d.failed(err)
		}
	}
	if len(ids) == 1 {
		return did{text: "acknowledged " + ids[0]}
	}
	return did{text: "acknowledged " + cli.Plural(len(ids), "item")}
}
