package waiting

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// newWaitOptionNames are the options that only a new wait has, and not one that is resumed.
var newWaitOptionNames = []string{"delay", "until", "every", "cron", "rrule", "start", "end", "count", "expect", "name", "notify"}

// resumeWait goes on with a kept wait, whoever began it: for the same instant, and then for the
// rest of its --count. A wait whose time has come is told at once. A wait that was told before is
// told again as the same occurrence, without the rest of its --count, because the earlier caller
// goes on with that.
func resumeWait(ctx context.Context, s *cli.Call) error {
	o := waitOptions{pace: pace{begun: clock.Here(s.Clock)}, count: 1, raw: s.Opt.Bool("raw"), quiet: s.Quiet}
	if err := refuseNewWait(s); err != nil {
		return err
	}
	if err := o.readCommon(s); err != nil {
		return err
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	e, err := pickWait(ctx, s, st)
	if err != nil {
		return err
	}
	if err := o.readKept(s, e); err != nil {
		return err
	}
	w := &activeWait{Call: s, waitOptions: o}
	if w.kept, w.first, err = tasks.ResumeWait(ctx, st, s.Clock, e, o.begun.Wall); err != nil {
		return err
	}
	switch why := tasks.WaitEnded(w.kept.Entry, s.Clock.Now()); {
	case s.DryRun && (why == nil || errors.Is(why, tasks.ErrTold)):
		dryResume(ctx, w, why == nil)
		return nil
	case why == nil:
	case errors.Is(why, tasks.ErrTold):
		return tellAgain(ctx, w)
	default:
		w.kept.Leave()
		return why
	}
	if left := -w.late(s.Clock, w.first); left > 0 {
		w.runner = handover.HandOver(ctx, s, st)
		w.warnUnready()
		if !view.ShowsCountdown(s, w.quiet) {
			s.Note("waiting until %s", view.Echo(w.first.In(w.zone), w.begun.Wall.In(w.zone)))
		}
	}
	if w.first, err = w.await(ctx, w.begun.Wall, w.first); err != nil {
		return w.endEarly(ctx, w.first, 0, err)
	}
	t := w.arrived(w.first)
	t.again = cli.ContinueWith(w.Call, w.withOptions(w.Call, w.again))
	if err := t.tell(); err != nil {
		w.kept.Leave()
		return err
	}
	t.announce()
	t.lateness()
	w.markTold(ctx, t.now)
	return awaitRest(ctx, w)
}

// refuseNewWait refuses words and options that only a new wait has.
func refuseNewWait(s *cli.Call) error {
	if len(s.Args) > 0 {
		return problem.Of(problem.T("%s takes the time and the task from the wait; what is %s?",
			problem.Option("resume"), cli.Quote(s.Args[0])),
			problem.T("%s; to begin another wait, leave %s out", problem.To("wait").With("resume", s.Opt.Text("resume")),
				problem.Option("resume")))
	}
	for _, flag := range newWaitOptionNames {
		if s.Opt.Has(flag) {
			return problem.Of(problem.T("%s takes the time from the wait, and %s is only for a new wait",
				problem.Option("resume"), problem.Option(flag)),
				problem.T("leave one of them out"))
		}
	}
	return nil
}

// dryResume answers a dry run with --resume. pending says that the wait was not told yet.
func dryResume(ctx context.Context, w *activeWait, pending bool) {
	w.kept.Leave()
	var warnings []cli.Warning
	if pending && w.late(w.Clock, w.first) < 0 {
		w.runner = handover.HandOver(ctx, w.Call, w.Store)
		warnings = w.warnings()
	}
	w.answerDryRun(w.again, warnings)
}

// pickWait finds the wait that --resume names, by its ID or by a beginning that no other ID has.
func pickWait(ctx context.Context, s *cli.Call, st state.Tasks) (state.Entry, error) {
	id := s.Opt.Text("resume")
	e, bad, err := view.PickID(ctx, st.Find, id, s.Clock.Now(), func(e state.Entry) bool { return e.Task.Type() == state.TypeWait })
	switch {
	case err != nil:
		return e, err
	case bad == nil:
		return e, nil
	case bad.Other != nil:
		other := bad.Other.Task
		return e, problem.Of(problem.T("task %s has the type %s, and %s goes on with a wait", other.ID, other.Type(),
			problem.Option("resume")),
			problem.T("%s shows which tasks are waits; %s shows this one", problem.To("ls"),
				problem.To("show", other.ID)))
	case bad.Code == problem.NotFound:
		return e, problem.New(problem.NotFound, problem.T("there is no wait %s", cli.Quote(id)),
			problem.T("%s shows current waits, %s those that ended in the last 30 days; to begin one: %s",
				problem.To("ls"), cli.EveryTask, problem.To("wait", "5m", "TASK")))
	}
	return e, bad.Problem
}

// readKept reads the options of a kept wait from its task.
func (o *waitOptions) readKept(s *cli.Call, e state.Entry) (err error) {
	if o.zone = rules.TaskZone(e.Task); s.Opt.Has("tz") {
		if o.zone, err = s.Zone(); err != nil {
			return err
		}
	}
	w := e.Task.Wait
	o.task, o.kind, o.text, o.elapsed, o.first = e.Task.Text, when.Kind(w.Kind), w.Text, w.Elapsed, e.Due
	o.name, o.notify = w.Name, e.Task.Policy.Notify
	if sched, err := rules.Recurrence(e.Task.When); err == nil && w.Elapsed && o.kind == when.Once {
		o.length = sched.Delay
	}
	if len(w.Again) == 0 {
		return nil
	}
	c := WaitCommand()
	if o.next, err = c.Syntax().Words(w.Again[1:]); err != nil {
		return err
	}
	o.stream = o.next.Values.Has("count")
	o.again = problem.To(c.Name)
	if o.next.Values.Has("every") {
		o.again = o.again.With("interval", o.next.Values.Text("every"))
	}
	o.again = cli.With(o.again, o.next.Values, "cron", "rrule", "end", "tz", "name", "notify", "start",
		"count").Saying(o.next.Args...)
	return nil
}

// tellAgain answers for a wait that was told before or is in the inbox, and acknowledges its item.
func tellAgain(ctx context.Context, w *activeWait) error {
	defer w.kept.Leave()
	coming, stop := cli.WithBound(ctx, w.Clock, cancelTimeout)
	unread := w.kept.Unread(coming)
	stop()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t := w.arrived(w.first)
	t.again = cli.ContinueWith(w.Call, w.withOptions(w.Call, w.again))
	t.repeated = !unread
	if err := t.tell(); err != nil {
		return err
	}
	t.lateness()
	limited, stop := cli.WithBound(context.WithoutCancel(ctx), w.Clock, toldTimeout)
	defer stop()
	w.kept.Acknowledge(limited)
	switch {
	case unread:
		return awaitRest(ctx, w)
	case w.stream:
		w.ShowContinue(t.again)
	}
	return nil
}

// lateness writes how late the wait is.
func (t trigger) lateness() {
	if t.late >= time.Second {
		t.of.Note("%s (%s) was due %s", cli.Quote(t.of.kept.Entry.Task.Summary()), t.of.kept.ID(),
			view.Echo(t.due, t.now))
	}
}

// awaitRest waits for the rest of --count, as the next call would do. The bound of this call stays.
func awaitRest(ctx context.Context, w *activeWait) error {
	if !w.stream || w.OneAnswer {
		return nil
	}
	c := WaitCommand()
	c.Run = func(ctx context.Context, s *cli.Call) error {
		o, err := newWait(s)
		if f, ok := errors.AsType[*problem.Problem](err); ok && f.Code == problem.Never {
			return nil // --end has passed
		}
		if err != nil {
			return err
		}
		o.begun = w.begun
		return runWait(ctx, s, o)
	}
	further := w.FollowedBy(&c)
	w.next.Values = w.callOptions(w.Call).Over(w.next.Values)
	return cli.Perform(ctx, further, w.next)
}
