package waiting

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// ofAnew are the options of a wait that is begun, and of none that is resumed.
var ofAnew = []string{"delay", "until", "every", "cron", "rrule", "start", "end", "count", "expect", "name", "notify"}

// resumeWait goes on with a wait that is kept: for the same instant, whoever began it, and then with the rest of the row (--count) that it
// is of. What has come is told at once; what was told before is told again, as the same occurrence, and that alone: whoever was told went on.
func resumeWait(ctx context.Context, s *cli.Call) error {
	o := waitOptions{begun: clock.Here(s.Clock), count: 1, raw: s.Opt.Bool("raw"), quiet: s.Quiet}
	if len(s.Args) > 0 {
		return problem.Of(problem.T("%s goes on with a wait that has its time and its task; what is %s?", problem.Option("resume"), cli.Quote(s.Args[0])),
			problem.T("%s; to begin another wait, leave %s out", view.Resuming(s.Opt.Text("resume")), problem.Option("resume")))
	}
	for _, flag := range ofAnew {
		if s.Opt.Has(flag) {
			return problem.Of(problem.T("%s goes on with a wait that has its time, and %s is for one that begins", problem.Option("resume"), problem.Option(flag)),
				problem.T("leave one of them out"))
		}
	}
	if err := o.bound(s); err != nil {
		return err
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	e, err := pickWait(ctx, s.Opt, st)
	if err != nil {
		return err
	}
	if err := o.from(s, e); err != nil {
		return err
	}
	if left, held := e.Task.Wait.Rest(); held && e.Phase == state.Paused {
		o.first = o.begun.Wall.Add(left)
		if !s.DryRun {
			answer := st.Change(ctx, state.Change{ID: e.Task.ID, Rule: state.GoOnWaiting(o.first, s.Clock.Now()), Now: s.Clock.Now()})[0]
			switch {
			case answer.Err == nil:
				e = answer.Doc.Entry()
			case errors.Is(answer.Err, state.ErrTaken): // somebody else has had it go on
				if e, err = tasks.Reread(ctx, st, e); err != nil {
					return err
				}
				o.first = e.Due
			default:
				return answer.Err
			}
		}
	}
	k := &keptWait{st: st, entry: e}
	if e.Phase == state.Pending {
		// Attended to before it is looked at: from then on no runner takes it.
		if k.changed, k.release, err = st.Attend(context.WithoutCancel(ctx), e.Task.ID, e.Due); err != nil {
			return err
		}
		if e, err = tasks.Reread(ctx, st, e); err != nil {
			k.leave()
			return err
		}
		k.entry = e
	}
	switch why := ended(e); {
	case s.DryRun && (why == nil || errors.Is(why, errTold)):
		k.leave()
		o.wouldResume(ctx, s, k, why != nil)
		return nil
	case why == nil:
	case errors.Is(why, errTold):
		return o.repeat(ctx, s, k)
	default:
		k.leave()
		return why
	}
	if left := -o.late(s.Clock, o.first); left > 0 {
		o.hands = handover.HandOver(ctx, s, st)
		o.unready(s)
		if !view.Counts(s, o.quiet) {
			s.Talk("waiting until %s", view.Echo(o.first.In(o.zone), o.begun.Wall.In(o.zone)))
		}
	}
	if o.first, err = o.await(ctx, s, k, o.begun.Wall, o.first); err != nil {
		return o.over(ctx, s, k, o.first, 0, err)
	}
	t := o.come(s, k)
	if err := o.tell(s, t); err != nil {
		k.leave()
		return err
	}
	o.ring(s, t)
	o.lateness(s, t)
	k.end(ctx, s, t.now)
	return o.rest(ctx, s)
}

// pickWait finds the wait that --resume names, by its ID or a beginning of it that no other wait has.
func pickWait(ctx context.Context, given option.Values, st state.Tasks) (state.Entry, error) {
	id := given.Text("resume")
	e, bad, err := view.PickID(ctx, st.Find, id, func(e state.Entry) bool { return e.Task.Type() == state.TypeWait })
	switch {
	case err != nil:
		return e, err
	case bad == nil:
		return e, nil
	case bad.Other != nil:
		other := bad.Other.Task
		return e, problem.Of(problem.T("task %s is a %s, and %s goes on with a wait", other.ID, other.Type(), problem.Option("resume")),
			problem.T("%s shows which tasks are waits; %s shows this one", problem.To("ls"), problem.To("show", other.ID)))
	case bad.Code == problem.NotFound:
		return e, problem.New(problem.NotFound, problem.T("no wait %s", cli.Quote(id)),
			problem.T("%s shows the waits that go on, %s those that ended in the last 30 days; to begin one: %s", problem.To("ls"), cli.EveryTask, problem.To("wait", "5m", "TASK")))
	}
	return e, bad.Problem
}

// from reads what is kept of a wait.
func (o *waitOptions) from(s *cli.Call, e state.Entry) (err error) {
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
	o.again = cli.With(o.again, o.next.Values, "cron", "rrule", "end", "tz", "name", "notify", "start", "count").Saying(o.next.Args...)
	return nil
}

// come is the instant of a wait that was resumed, now that it has come.
func (o *waitOptions) come(s *cli.Call, k *keptWait) trigger {
	return trigger{now: s.Clock.Now().In(o.zone), late: max(0, o.late(s.Clock, o.first)), due: o.first.In(o.zone), kept: k,
		again: cli.GoingOn(s, o.further(s, o.again))}
}

// repeat tells what was told before, or lies in the inbox, or is on its way there, where it is acknowledged.
func (o *waitOptions) repeat(ctx context.Context, s *cli.Call, k *keptWait) error {
	defer k.leave()
	coming, stop := cli.Within(ctx, s.Clock, cancelPatience)
	unread := k.unread(coming, s)
	stop()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t := o.come(s, k)
	t.repeated = !unread
	if err := o.tell(s, t); err != nil {
		return err
	}
	o.lateness(s, t)
	limited, stop := cli.Within(context.WithoutCancel(ctx), s.Clock, endPatience)
	defer stop()
	k.acknowledge(limited, s)
	switch {
	case unread:
		return o.rest(ctx, s)
	case o.stream:
		s.GoOn(t.again)
	}
	return nil
}

// lateness says how late it is.
func (o *waitOptions) lateness(s *cli.Call, t trigger) {
	if t.late >= time.Second {
		s.Talk("%s (%s) was due %s", cli.Quote(t.kept.entry.Task.Summary()), t.kept.name(), view.Echo(t.due, t.now))
	}
}

// rest waits for what is left of a row (--count), as the words that wait for it would; the time that the caller grants goes on.
func (o *waitOptions) rest(ctx context.Context, s *cli.Call) error {
	if !o.stream || s.Single {
		return nil
	}
	c := WaitCommand()
	c.Run = func(ctx context.Context, s *cli.Call) error {
		w, err := newWait(s)
		if f := (*problem.Problem)(nil); errors.As(err, &f) && f.Code == problem.Never {
			return nil // its --end has passed meanwhile
		}
		if err != nil {
			return err
		}
		w.begun = o.begun
		return runWait(ctx, s, w)
	}
	further := s.Follow(&c)
	o.next.Values = o.manner(s).Over(o.next.Values)
	return cli.Perform(ctx, further, o.next)
}
