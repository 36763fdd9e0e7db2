package waiting

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

const (
	// keepLeast is how long a wait with a task is that is kept also without --max, keepBounded how long any wait is that is kept with it,
	// however late the bound comes: the caller may be killed before. What is shorter than that nobody could resume in time.
	keepLeast   = 10 * time.Second
	keepBounded = 500 * time.Millisecond
	// keepPatience bounds how long a wait that need not be kept is held up by a state that is busy.
	keepPatience = 5 * time.Second
	// keepMoment is what a wait takes to be kept at the most when the caller's bound is shorter: whoever gives one wants to go on later,
	// and a state that is busy for a moment must not make that an error.
	keepMoment = 2 * time.Second
	// endPatience bounds how long a wait takes to note that it was told, cancelPatience that it was cancelled: somebody waits
	// for the end of a program that was told to end.
	endPatience    = 10 * time.Second
	cancelPatience = 2 * time.Second
)

var (
	errMax  = errors.New("the caller's time is over")
	errTold = errors.New("told elsewhere")
)

// keptWait is a wait that outlives its caller: a task of type wait, which a runner tells unless somebody attends to it. A nil one is a
// wait that is not kept, of which all that is asked is nothing.
type keptWait struct {
	st      state.Store
	entry   state.Entry
	changed <-chan struct{}
	release func()
}

// name is the ID of the task; empty when the wait is not kept.
func (k *keptWait) name() string {
	if k == nil {
		return ""
	}
	return k.entry.Task.ID
}

// occurrence names what is told, whoever tells it: a wait is for one instant, is never run by hand, and has one number.
func (k *keptWait) occurrence() string {
	if k == nil {
		return ""
	}
	return state.OccurrenceID(k.entry.Task.ID, 1)
}

// leave lets go of a wait that is not over: it can be resumed.
func (k *keptWait) leave() {
	if k != nil && k.release != nil {
		k.release()
	}
}

// keeps reports whether the wait for due is one to keep, how long that may take, and whether the caller's bound comes first.
func (o *waitOptions) keeps(s *cli.Call, due time.Time) (keep, bounded bool, patience time.Duration) {
	left, granted := -o.late(s.Clock, due), o.most-o.begun.Since(s.Clock)
	switch {
	case left <= 0 && len(o.notify) == 0:
		return false, false, 0
	case o.most > 0 && granted <= left:
		return true, true, max(granted, keepMoment)
	case len(o.notify) > 0:
		return true, false, keepPatience
	}
	return o.most > 0 && left > keepBounded || o.label() != "" && left > keepLeast, false, min(keepPatience, left/2)
}

// keep keeps the wait for due, if it is one to keep, before it begins; told is how many times were told. Without --max what cannot be
// kept is waited for all the same: a state that cannot be used must not make anybody miss their time. Only a limit of what a run may
// schedule refuses a wait, when it begins.
func (o *waitOptions) keep(ctx context.Context, s *cli.Call, due time.Time, told int) (*keptWait, error) {
	keep, bounded, patience := o.keeps(s, due)
	if !keep {
		return nil, nil
	}
	k, err := o.record(ctx, s, due, told, patience)
	switch {
	case ctx.Err() != nil:
		return nil, o.over(ctx, s, k, due, told, ctx.Err())
	case cli.LimitOf(err) != nil && told == 0:
		return nil, err // a run may not wait for so much
	case err != nil && (bounded || len(o.notify) > 0):
		return nil, o.unkept(err)
	case err != nil:
		s.WarnAll([]cli.Warning{{Kind: cli.WarnUnkept, Text: unresumable(err)}})
		return nil, nil
	}
	// Handed over before anything is said: who reads that it can be resumed may end us at once.
	o.hands = handover.HandOver(ctx, s, k.st)
	if !s.Quiet && !s.InJSON { // whoever is killed has read nothing else; programs find it by ls
		s.Aside("to resume: %s\n", cli.Visible(cli.ShellLine(o.resuming(s, k).Words(cli.Itself(s)))))
	}
	o.unready(s)
	return k, nil
}

// unready warns when nobody would. Without a bound no answer in JSON comes in time to say so.
func (o *waitOptions) unready(s *cli.Call) {
	for _, w := range o.warnings(s) {
		if o.most == 0 || !s.InJSON {
			s.Caution("warning: %s", cli.Visible(s.Says(w.Text)))
		}
	}
}

// warnings are of nobody who would tell it, and of channels that cannot be told by now.
func (o *waitOptions) warnings(s *cli.Call) []cli.Warning {
	list := o.hands.Warnings()
	if len(o.notify) > 0 {
		t := state.Task{Text: o.label(), Wait: state.Wait{Kind: string(o.kind)}, Policy: state.Policy{Notify: o.notify}}
		list = append(list, handover.Unready(s, handover.AudienceOf(s, t), o.hands)...)
	}
	return list
}

// unresumable warns of a wait that cannot be kept, and is waited for all the same.
func unresumable(err error) problem.Text {
	return problem.T("this wait cannot be resumed, and ends with its caller: %s", cli.Explain(err).Message)
}

// unkept is the error of a wait that the caller's bound would end, or of which somebody else is to be told, and that cannot be kept.
func (o *waitOptions) unkept(err error) error {
	if cli.LimitOf(err) != nil {
		return err
	}
	p := cli.Explain(err)
	if len(o.notify) > 0 {
		return p.Saying(problem.T("the wait cannot be kept, so that nobody would be told by %s: %s", problem.Option("notify"), p.Message)).
			Advising(problem.Texts("; ", p.Hint, problem.T("without %s it is waited for all the same", problem.Option("notify"))))
	}
	return p.Saying(problem.T("the wait cannot be kept for after %s: %s", problem.Option("max"), p.Message)).
		Advising(problem.Texts("; ", p.Hint, problem.T("without %s it is waited for all the same", problem.Option("max"))))
}

// record makes a task of the wait, and attends to it. A state that is busy is waited for so long.
func (o *waitOptions) record(ctx context.Context, s *cli.Call, due time.Time, told int, patience time.Duration) (*keptWait, error) {
	st, err := s.Open()
	if err != nil {
		return nil, err
	}
	task := o.asTask(s, due, told)
	if task.Origin, err = cli.Origin(s); err != nil {
		return nil, err
	}
	limited, cancel := cli.Within(ctx, s.Clock, patience)
	defer cancel()
	e, err := st.Add(limited, task, due)
	if err != nil {
		if ctx.Err() == nil && limited.Err() != nil {
			err = state.ErrBusy
		}
		return nil, err
	}
	k := &keptWait{st: st, entry: e}
	k.changed, k.release, err = st.Attend(context.WithoutCancel(ctx), e.Task.ID, e.Due)
	if err != nil {
		_, _ = st.Remove(limited, e.Task.ID, s.Clock.Now()) // else it is told twice: better than not at all
		return nil, err
	}
	return k, nil
}

// asTask is the wait as it is kept: for one instant, which is all that nobody may miss; what comes after it, the answer's words tell.
func (o *waitOptions) asTask(s *cli.Call, due time.Time, told int) state.Task {
	t := state.Task{Created: o.begun.Wall.UTC(), Text: o.task, When: o.timing, Terminal: cli.OwnTerminal(s.World),
		Wait: state.Wait{Name: o.name, Text: o.text, Kind: string(o.kind), Elapsed: o.elapsed}}
	if o.kind != when.Once {
		t.When = state.Timing{Text: due.In(o.zone).Format(time.RFC3339Nano), Form: string(when.UntilForm), Kind: string(when.Once), Zone: o.zone.String(),
			Start: o.begun.Wall}
		if _, more := o.following(due, told+1); more {
			t.Wait.Again = o.after(due, o.count-told-1).Words("")[1:]
		}
	}
	t.Policy.Notify = o.notify
	if t.Description = o.name; o.label() == "" {
		t.Description = "wait " + o.text
	}
	return t
}

// resuming is the call that resumes a wait.
func (o *waitOptions) resuming(s *cli.Call, k *keptWait) problem.Call {
	return cli.With(cli.With(view.Resuming(k.name()), o.manner(s), mannerOptions...), s.Opt, "tz")
}

// ended says how a wait has ended: errTold, or the error that whoever waits gets; nil while it has not.
func ended(e state.Entry) error {
	id := e.Task.ID
	switch {
	case e.Phase == state.Removed:
		return problem.New(problem.Cancelled, problem.T("the wait %s was cancelled by rm: nothing is told", id),
			problem.T("%s brings it back, and %s goes on with it", problem.To("restore", id), view.Resuming(id)))
	case e.Phase == state.Pending, e.Phase == state.Paused:
		return nil
	case len(e.Open) == 0 && !state.Outcome(e.Tally.Last).Ran():
		return problem.New(problem.Cancelled, problem.T("the wait %s was cancelled: whoever waited was interrupted (Ctrl-C)", id),
			problem.T("begin it anew: %s", problem.To("wait", e.Task.Wait.Text, "...")))
	}
	return errTold
}

// over is the end of a wait whose time has not come.
func (o *waitOptions) over(ctx context.Context, s *cli.Call, k *keptWait, due time.Time, told int, err error) error {
	defer k.leave()
	switch {
	case ctx.Err() != nil:
		if sig := (*cli.Signalled)(nil); errors.As(cli.Caught(ctx), &sig) && sig.Signal == os.Interrupt {
			k.cancel(s)
		}
		return ctx.Err()
	case !errors.Is(err, errMax):
		return err
	}
	if k == nil { // the clock was put back
		if k, err = o.record(ctx, s, due, told, cancelPatience); err != nil {
			return o.unkept(err)
		}
		defer k.leave()
		o.hands = handover.HandOver(ctx, s, k.st)
	}
	return o.unfinished(s, k, due)
}

// cancel notes that whoever waited wants it no more.
func (k *keptWait) cancel(s *cli.Call) {
	if k == nil {
		return
	}
	ctx, stop := cli.Within(context.Background(), s.Clock, cancelPatience)
	defer stop()
	t, due, now := k.entry.Task, k.entry.Due, s.Clock.Now()
	err := k.st.Skip(ctx, t.ID, due, time.Time{}, state.Line{At: now, Due: &due, Outcome: state.Cancelled, Reason: rules.Stopped, Description: t.Summary()})
	switch {
	case errors.Is(err, state.ErrTaken), errors.Is(err, state.ErrEnded), errors.Is(err, state.ErrNotFound): // it is over, one way or another
	case err != nil:
		s.Warn("warning: the wait %s could not be cancelled, and its task will be in the inbox: %s", t.ID, cli.Visible(err.Error()))
	default:
		s.Talk("cancelled the wait %s", t.ID)
	}
}

// end notes that the wait was told. Should somebody else have taken it meanwhile, what they have put into the inbox is acknowledged: it was
// the same occurrence.
func (k *keptWait) end(ctx context.Context, s *cli.Call, told time.Time) {
	if k == nil {
		return
	}
	defer k.leave()
	ctx, stop := cli.Within(context.WithoutCancel(ctx), s.Clock, endPatience)
	defer stop()
	err := k.told(ctx, s, told)
	switch {
	case err == nil && len(k.entry.Task.Policy.Notify) > 0:
		handover.HandOver(ctx, s, k.st) // who tells it may just have ended for want of work
	case err == nil:
	case errors.Is(err, state.ErrTaken), errors.Is(err, state.ErrEnded), errors.Is(err, state.ErrNotFound):
		k.acknowledge(ctx, s)
	default:
		s.Warn("warning: that it was told could not be noted, and it may come again, as %s: %s", k.occurrence(), cli.Visible(err.Error()))
	}
}

func (k *keptWait) told(ctx context.Context, s *cli.Call, at time.Time) error {
	self, err := runner.Self()
	if err != nil {
		return err
	}
	r, err := k.st.Claim(ctx, k.entry.Task.ID, k.entry.Due, time.Time{}, self, s.Clock.Now())
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	line := rules.WaitedLine(r, at, now)
	line.At = now
	return k.st.End(ctx, r, line)
}

// unread reports whether what a runner has told of the wait lies in the inbox, where nobody has taken it. One that is just telling it is
// waited for.
func (k *keptWait) unread(ctx context.Context, s *cli.Call) bool {
	const nap = 20 * time.Millisecond
	e, err := tasks.Reread(ctx, k.st, k.entry)
	for err == nil && len(e.Open) > 0 && tasks.IsRunning(e) && s.Clock.For(ctx, nap) == nil {
		e, err = tasks.Reread(ctx, k.st, k.entry)
	}
	items, _, _, err := k.st.Inbox(ctx, state.Query{Tasks: []string{k.occurrence()}})
	return err == nil && slices.ContainsFunc(items, func(i state.Item) bool { return i.ID == k.occurrence() && i.Leased.IsZero() })
}

// acknowledge ends the item that stands for the wait, also one that is just being made.
func (k *keptWait) acknowledge(ctx context.Context, s *cli.Call) {
	const nap = 20 * time.Millisecond
	for {
		e, err := tasks.Reread(ctx, k.st, k.entry)
		coming := err == nil && len(e.Open) > 0 && tasks.IsRunning(e)
		if err := k.st.Ack(ctx, []string{k.occurrence()})[0]; !errors.Is(err, state.ErrNotFound) || !coming {
			return
		}
		if s.Clock.For(ctx, nap) != nil {
			return
		}
	}
}

// waitingJSON is the answer of wait when --max came first.
type waitingJSON struct {
	Now         time.Time `json:"now"`
	Status      string    `json:"status" jsonschema:"waiting" enum:"waiting"`
	ID          string    `json:"id"`
	Task        *string   `json:"task,omitempty"`
	Name        *string   `json:"name,omitempty" jsonschema:"as --name gave it"`
	Due         time.Time `json:"due"`
	LeftSeconds float64   `json:"left_seconds"`
	Paused      bool      `json:"paused,omitempty" jsonschema:"somebody holds it: it is due then if it goes on now"`
	Kind        when.Kind `json:"kind" enum:"once interval cron rrule"`
	Said        string    `json:"text" jsonschema:"the time, as it was given"`
	TZ          string    `json:"tz"`
	Continue    []string  `json:"continue,omitempty" jsonschema:"the command that goes on"`
	Runner      string    `json:"runner" enum:"alive started stopped none" jsonschema:"who tells it when nobody waits for it"`
	Warnings    []string  `json:"warnings,omitempty"`
}

// unfinished is the answer when the caller's bound comes first.
func (o *waitOptions) unfinished(s *cli.Call, k *keptWait, due time.Time) error {
	now, further := s.Clock.Now().In(o.zone), cli.GoingOn(s, o.resuming(s, k))
	left := max(-o.late(s.Clock, due), 0)
	if o.held > 0 {
		left, due = o.held, now.Add(o.held)
	}
	s.Answer(waitingJSON{now, "waiting", k.name(), cli.OrNull(o.task), cli.OrNull(o.name), due.In(o.zone), cli.Seconds(left), o.held > 0, o.kind, o.text, o.zone.String(), further, o.hands.Runner, s.WarningTexts(o.warnings(s))})
	return cli.ExitCode(cli.ExitMax)
}

// Text says what is waited for, and how to go on.
func (a waitingJSON) Text(o *cli.Out) {
	what := ""
	if label := cmp.Or(a.Name, a.Task); label != nil {
		what = " for " + cli.Quote(*label)
	}
	when := "due " + view.Echo(a.Due, a.Now)
	if a.Paused {
		when = "paused, " + when + " if it goes on now"
	}
	o.Talk("still waiting%s (%s): %s", what, a.ID, when)
	o.GoOn(a.Continue)
}
