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
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// actions carries out what keys ask for. Each method may take long, runs beside others, and answers
// with a message for the model.
type actions interface {
	load(filter string) tea.Msg    // loaded
	readDetail(of subject) tea.Msg // detail
	awaitOutput(id string) tea.Msg // outputGrew
	interpret(typed) tea.Msg       // interpretation

	// These answer with status. A paused task is resumed by pause.
	submit(typed) tea.Msg
	pause(state.Entry) tea.Msg
	fire(state.Entry) tea.Msg
	stop(e state.Entry, kill bool) tea.Msg
	remove(state.Entry) tea.Msg
	restore() tea.Msg
	acknowledge(ids []string) tea.Msg
}

// These are the messages to the model.
type (
	storeChanged struct{} // something in the store has changed
	loaded       struct {
		snapshot
		err error
	}
	outputGrew struct{ id string } // a run of the task has written something
	status     struct {            // what the status line says: what was done, or could not be
		text         string
		failed       bool
		closesInput  bool // the typed line has been carried out
		firingChange int  // added to the count of runs that were fired here and go on
		number       int  // of a short action, from 1 on; see inOrder
	}
	interpretation struct { // the meaning of the typed line
		typed   typed
		meaning string
		fault   string
	}
)

// typed is a line that the user types: about a task that is changed, or about a new one.
type typed struct {
	line string
	task state.Entry // its ID is empty for a new one
}

// subject is what a detail is about: a task, a run, an item or a line.
type subject struct {
	key  string
	task *state.Entry
	run  *openRun
	item *state.Item
	line *state.Line
}

// storeActions carries out what keys ask for in the store.
type storeActions struct {
	ctx       context.Context
	base      *cli.Call
	st        state.Store
	zone      *time.Location
	times     cli.Locale
	firing    sync.WaitGroup
	mu        sync.Mutex
	stopWatch context.CancelFunc // ends the watch of the previous task
}

// call makes a new call for each action, because a call keeps what it finds out, and many actions
// run at once.
func (a *storeActions) call() *cli.Call {
	one := *a.base
	one.DefaultZone = a.zone
	return &one
}

// failed is the status of an action that failed.
func (a *storeActions) failed(err error) status {
	p := cli.Explain(err)
	text := cli.Visible(a.base.Render(p.Message))
	if !p.Hint.Empty() {
		text += "; " + cli.Visible(a.base.Render(p.Hint))
	}
	return status{text: text, failed: true}
}

func (a *storeActions) load(filter string) tea.Msg {
	n, err := load(a.ctx, a.st, a.base.Clock.Now(), filter)
	return loaded{n, err}
}

func (a *storeActions) readDetail(of subject) tea.Msg {
	now := a.base.Clock.Now()
	switch {
	case of.task != nil:
		return detail{of.key, of.task.Task.ID, taskDetail(*of.task, a.zone)}
	case of.run != nil:
		return detail{of.key, of.run.id(), outputLines(a.ctx, a.st, of.run.Task.ID, of.run.Number)}
	case of.item != nil:
		return detail{of.key, of.item.ID, itemDetail(a.ctx, a.st, *of.item, now, a.zone)}
	case of.line != nil:
		return detail{of.key, of.line.TaskID, lineDetail(a.ctx, a.st, *of.line, a.zone)}
	}
	return detail{}
}

// outputPause is the least time between two readings of the output of a run.
const outputPause = 100 * time.Millisecond

// awaitOutput waits until a run of the task has written something. It watches one task at a time.
func (a *storeActions) awaitOutput(id string) tea.Msg {
	ctx, stop := context.WithCancel(a.ctx)
	a.mu.Lock()
	if a.stopWatch != nil {
		a.stopWatch()
	}
	a.stopWatch = stop
	a.mu.Unlock()
	written, err := a.st.WatchLog(ctx, id)
	if err != nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-written:
	}
	if a.base.Clock.For(ctx, outputPause) != nil {
		return nil
	}
	return outputGrew{id}
}

// interpret says what the typed line means, and what is wrong with it.
func (a *storeActions) interpret(t typed) tea.Msg {
	e := interpretation{typed: t}
	r, err := schedule.ReadTyped(a.call(), t.task.Task.ID, t.line)
	if r.When != nil && *r.When != "" {
		e.meaning = meaningOf(r)
	}
	if err == nil {
		err = a.tryOut(r, t, &e)
	}
	if err != nil {
		e.fault = a.failed(r.Explained(err)).text
	}
	return e
}

// meaningOf is the meaning of the time of a request, if the time can be read; else it is empty.
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
	return meaning(sched, view.Echo(next.In(o.Now.Location()), o.Now))
}

// meaning is when a task comes, and the recurrence that begins then. A task that waits for others,
// or for a boot, has no schedule.
func meaning(sched *when.Schedule, coming string) string {
	if sched == nil || sched.Kind == when.Once {
		return coming
	}
	return cli.Visible(sched.Canonical) + ", first " + coming
}

// tryOut puts into e what a request would do, and changes nothing.
func (a *storeActions) tryOut(r schedule.Typed, t typed, e *interpretation) error {
	if t.task.Task.ID == "" {
		c := tasks.Adding(r.World, r.Spec)
		if err := c.Apply(a.ctx); err != nil {
			return err
		}
		e.meaning = meaning(c.Sched, view.Coming(state.Entry{Task: c.Task, Due: c.Due}, c.Now.In(a.zone)))
		return nil
	}
	done, err := tasks.Edit(a.ctx, r.World, r.Spec, a.st, a.st.Dry(), t.task)
	if err != nil {
		return err
	}
	e.meaning = "nothing changes"
	if len(done.Fields) > 0 {
		e.meaning = view.Coming(done.Entry, done.Now.In(a.zone)) + "; changes " + strings.Join(done.Fields, ", ")
		if !state.IsUnscheduled(done.Entry.Due) {
			e.meaning = "due " + e.meaning
		}
	}
	return nil
}

// submit adds the typed task, or changes the task that is being edited.
func (a *storeActions) submit(t typed) tea.Msg {
	r, err := schedule.ReadTyped(a.call(), t.task.Task.ID, t.line)
	var done tasks.Done
	switch {
	case err != nil:
	case t.task.Task.ID != "":
		done, err = tasks.Edit(a.ctx, r.World, r.Spec, a.st, a.st, t.task)
	default:
		c := tasks.Adding(r.World, r.Spec)
		if err = c.Apply(a.ctx); err == nil {
			done, err = c.Add(a.ctx, a.st, func(ctx context.Context) bool {
				return handover.HandOver(ctx, a.call(), a.st).Runner != handover.RunnerNone
			})
		}
	}
	if errors.Is(err, tasks.ErrOver) {
		err = problem.New(problem.Ended, problem.T("the task has ended meanwhile"), problem.Text{})
	}
	if err != nil {
		return a.failed(r.Explained(err))
	}
	verb := "changed"
	switch {
	case done.Created:
		verb = "scheduled"
	case t.task.Task.ID == "" && !done.Replaced:
		verb = "kept"
	}
	answer := a.handedOver(verb, done.Entry)
	answer.closesInput = true
	return answer
}

// handedOver makes sure that a runner runs a task, and says what happened to the task.
func (a *storeActions) handedOver(verb string, e state.Entry) status {
	text := verb + " " + e.Task.ID
	if due, now := view.DueOf(e).In(a.zone), a.base.Clock.Now().In(a.zone); due.After(now) {
		text += ", due in " + say.Distance(now, due) + ", " + a.times.Format(due, "Mon 2 Jan 2006 15:04:05 MST")
	}
	text += " (" + view.Describe(e.Task) + ")"
	for _, w := range handover.HandOver(a.ctx, a.call(), a.st).Warnings() {
		return status{text: text + "; " + cli.Visible(a.base.Render(w.Text)), failed: true}
	}
	return status{text: text}
}

// name is a task by its ID and what it is.
func name(e state.Entry) string { return e.Task.ID + " (" + view.Describe(e.Task) + ")" }

func (a *storeActions) pause(e state.Entry) tea.Msg {
	now := a.base.Clock.Now()
	if e.Held {
		back := tasks.Resume(a.ctx, a.st, a.st, []state.Entry{e}, now)[0]
		switch {
		case back.Err != nil:
			return a.failed(back.Err)
		case !tasks.Live(back.Entry):
			return status{text: name(e) + " is over: its time passed before it was resumed"}
		}
		return a.handedOver("resumed", back.Entry)
	}
	if e.Task.Type() == state.TypeWait {
		return a.failed(tasks.NotForWaits(e, "and cannot be paused: time goes on"))
	}
	if held := tasks.Pause(a.ctx, a.st, []state.Entry{e}, time.Time{}, now)[0]; held.Err != nil {
		return a.failed(held.Err)
	}
	return status{text: "paused " + name(e)}
}

func (a *storeActions) fire(e state.Entry) tea.Msg {
	a.firing.Add(1)
	defer a.firing.Done()
	o, err := tasks.Firing(a.ctx, schedule.WorldOf(a.call()), a.st, e, false)
	message := ""
	var line state.Line
	if err == nil {
		o.Asked = schedule.NewAgentRequests(a.call(), true).Answer
		o.Say = func(string, ...any) {}
		o.Deliver = func(r state.Record) error {
			message = r.Task.Message()
			return nil
		}
		line, err = runner.Fire(a.ctx, o, e)
	}
	answer := status{text: state.OccurrenceID(line.TaskID, line.Number) + " " + view.OutcomeWords(line),
		failed: line.Outcome != state.OK}
	switch {
	case errors.Is(err, runner.ErrGoing):
		answer = a.failed(manage.AlreadyRunning(e))
	case err != nil:
		answer = a.failed(err)
	case message != "":
		answer.text = cli.Visible(message)
	}
	answer.firingChange = -1
	return answer
}

func (a *storeActions) stop(e state.Entry, kill bool) tea.Msg {
	ctx, cancel := cli.WithBound(a.ctx, a.base.Clock, cli.StopWait)
	defer cancel()
	runs, failed := tasks.Stop(ctx, a.st, a.base.Clock, []state.Entry{e}, kill)
	if len(failed) > 0 {
		return a.failed(failed[0].Err)
	}
	var ended []string
	for _, r := range runs {
		id := state.OccurrenceID(r.Task.ID, r.Number)
		if !r.Over {
			return status{text: id + " was told to end, and goes on; K ends it at once", failed: true}
		}
		ended = append(ended, id)
	}
	return status{text: "ended " + strings.Join(ended, ", ")}
}

func (a *storeActions) remove(e state.Entry) tea.Msg {
	if _, failed := tasks.Remove(a.ctx, a.st, []state.Entry{e}, a.base.Clock); len(failed) > 0 {
		return a.failed(failed[0].Err)
	}
	return status{text: "removed " + name(e) + "; u undoes it"}
}

func (a *storeActions) restore() tea.Msg {
	list, err := tasks.LastRemoved(a.ctx, a.st, a.st)
	if err != nil {
		return a.failed(err)
	}
	if len(list) == 0 {
		return status{text: "there is no removed task to restore", failed: true}
	}
	var last status
	for _, e := range list {
		back, err := tasks.Restore(a.ctx, a.st, e, a.base.Clock.Now())
		if err != nil {
			return a.failed(err)
		}
		last = a.handedOver("restored", back)
	}
	return last
}

func (a *storeActions) acknowledge(ids []string) tea.Msg {
	for _, err := range tasks.Acknowledge(a.ctx, a.st, a.base.Clock, ids) {
		if err != nil && !errors.Is(err, state.ErrNotFound) { // another call was first
			return a.failed(err)
		}
	}
	if len(ids) == 1 {
		return status{text: "acknowledged " + ids[0]}
	}
	return status{text: "acknowledged " + cli.Plural(len(ids), "item")}
}
