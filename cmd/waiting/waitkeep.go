package waiting

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

const (
	// keepLeast is how long a wait with a task has to be so that it is kept without --max, and
	// keepBounded how long any wait has to be so that it is kept with --max, because its caller may
	// be killed before the bound. Nobody could resume a shorter wait in time.
	keepLeast   = 10 * time.Second
	keepBounded = 500 * time.Millisecond
	// keepPatience is how long a busy store may delay a wait that does not have to be kept.
	keepPatience = 5 * time.Second
	// keepMoment is the least time for keeping a wait when the bound of the call is shorter. Its
	// caller wants to go on later, and a store that is busy for a moment must not make that an
	// error.
	keepMoment = 2 * time.Second
	// endPatience is how long a wait may take to write that it was told, and cancelPatience that it
	// was cancelled, because somebody waits for the end of the program.
	endPatience    = 10 * time.Second
	cancelPatience = 2 * time.Second
)

var errMax = errors.New("the caller's time is over")

// keeps reports whether the wait for due is kept, how long keeping it may take, and whether the
// bound of the call comes first.
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

// keep keeps the wait for due in the store before it begins, if it is to be kept. told is how many
// times were told. Without --max a wait that cannot be kept goes on with a warning, so that nobody
// misses their time because of the store. Only the quota of a run refuses a wait at its beginning.
func (w *activeWait) keep(ctx context.Context, due time.Time, told int) (unkept []cli.Warning, err error) {
	w.kept = nil
	keep, bounded, patience := w.keeps(w.Call, due)
	if !keep {
		return nil, nil
	}
	w.kept, err = w.record(ctx, due, told, patience)
	switch {
	case ctx.Err() != nil:
		return nil, w.over(ctx, due, told, ctx.Err())
	case cli.LimitOf(err) != nil && told == 0:
		return nil, err // the quota of the run is used up
	case err != nil && (bounded || len(w.notify) > 0):
		return nil, w.unkept(err)
	case err != nil:
		return []cli.Warning{{Kind: cli.WarnUnkept, Text: unresumable(err)}}, nil
	}
	// A runner is made sure of before anything is written, because who reads that the wait can be
	// resumed may end the call at once.
	w.runner = handover.HandOver(ctx, w.Call, w.Store)
	return nil, nil
}

// resumable writes the call that resumes a kept wait.
func (w *activeWait) resumable() {
	if w.kept == nil {
		return
	}
	if !w.Quiet && !w.InJSON { // it comes first, for callers that are killed; programs use ls
		w.WriteError("to resume: %s\n", cli.Visible(cli.ShellLine(resuming(w.Call, w.kept.ID(),
			w.manner(w.Call)).Words(cli.OwnName(w.Call)))))
	}
	w.unready()
}

// unready writes the warnings of a kept wait. A call in JSON without a bound writes them here, too,
// because its answer comes too late.
func (w *activeWait) unready() {
	for _, warning := range w.warnings() {
		if w.most == 0 || !w.InJSON {
			w.WarnAlways("warning: %s", cli.Visible(w.Render(warning.Text)))
		}
	}
}

// warnings say that no runner would tell the wait, and which channels would not deliver.
func (w *activeWait) warnings() []cli.Warning {
	list := w.runner.Warnings()
	if len(w.notify) > 0 {
		t := state.Task{Text: w.label(), Wait: state.Wait{Kind: string(w.kind)}, Policy: state.Policy{Notify: w.notify}}
		list = append(list, handover.Unready(w.Call, handover.RecipientsOf(w.Call, t), w.runner)...)
	}
	return list
}

// unresumable is the warning about a wait that cannot be kept and goes on.
func unresumable(err error) problem.Text {
	return problem.T("this wait cannot be resumed, and ends with its caller: %s", cli.Explain(err).Message)
}

// unkept is the error of a wait that has to be kept, because --max would end it or --notify tells
// somebody, and cannot be.
func (o *waitOptions) unkept(err error) error {
	if cli.LimitOf(err) != nil {
		return err
	}
	p := cli.Explain(err)
	if len(o.notify) > 0 {
		return p.Saying(problem.T("the wait cannot be kept, so that nobody would be told by %s: %s",
			problem.Option("notify"), p.Message)).
			Advising(problem.Texts("; ", p.Hint, problem.T("without %s it is waited for all the same",
				problem.Option("notify"))))
	}
	return p.Saying(problem.T("the wait cannot be kept for after %s: %s", problem.Option("max"), p.Message)).
		Advising(problem.Texts("; ", p.Hint, problem.T("without %s it is waited for all the same",
			problem.Option("max"))))
}

// record adds the wait to the store as a task, and announces that this call waits for it. patience
// is how long it waits for a store that is busy.
func (w *activeWait) record(ctx context.Context, due time.Time, told int, patience time.Duration) (*tasks.Wait, error) {
	st, err := w.Open()
	if err != nil {
		return nil, err
	}
	task := w.asTask(w.Call, due, told)
	if task.Origin, err = cli.Origin(w.Call); err != nil {
		return nil, err
	}
	limited, cancel := cli.WithBound(ctx, w.Clock, patience)
	defer cancel()
	kept, err := tasks.KeepWait(limited, st, w.Clock, task, due)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = state.ErrBusy
	}
	return kept, err
}

// asTask is the task of a kept wait. It is for one instant; the answer has the call that waits for
// the next one.
func (o *waitOptions) asTask(s *cli.Call, due time.Time, told int) state.Task {
	t := state.Task{Created: o.begun.Wall.UTC(), Text: o.task, When: o.timing, Terminal: cli.TerminalDevice(s.World),
		Wait: state.Wait{Name: o.name, Text: o.text, Kind: string(o.kind), Elapsed: o.elapsed}}
	if o.kind != when.Once {
		t.When = state.Timing{Text: due.In(o.zone).Format(time.RFC3339Nano), Form: string(when.UntilForm),
			Kind: string(when.Once), Zone: o.zone.String(),
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

// resuming is the call that resumes the wait, and blocks and answers as this one does.
func resuming(s *cli.Call, id string, manner option.Values) problem.Call {
	return cli.With(cli.With(view.Resuming(id), manner, mannerOptions...), s.Opt, "tz")
}

// over ends a wait whose time has not come.
func (w *activeWait) over(ctx context.Context, due time.Time, told int, err error) error {
	defer w.kept.Leave()
	switch {
	case ctx.Err() != nil:
		if sig := (*cli.Signalled)(nil); errors.As(cli.Caught(ctx), &sig) && sig.Signal == os.Interrupt {
			w.cancel()
		}
		return ctx.Err()
	case !errors.Is(err, errMax):
		return err
	}
	if w.kept == nil { // the clock was put back
		if w.kept, err = w.record(ctx, due, told, cancelPatience); err != nil {
			return w.unkept(err)
		}
		defer w.kept.Leave()
		w.runner = handover.HandOver(ctx, w.Call, w.Store)
	}
	return w.unfinished(due)
}

// cancel ends a kept wait that its caller gave up.
func (w *activeWait) cancel() {
	if w.kept == nil {
		return
	}
	ctx, stop := cli.WithBound(context.Background(), w.Clock, cancelPatience)
	defer stop()
	switch cancelled, err := w.kept.Cancel(ctx); {
	case err != nil:
		w.Warn("warning: the wait %s could not be cancelled, and its task will be in the inbox: %s", w.kept.ID(),
			cli.Visible(err.Error()))
	case cancelled:
		w.Note("cancelled the wait %s", w.kept.ID())
	}
}

// end writes into the store that the wait was told.
func (w *activeWait) end(ctx context.Context, told time.Time) {
	if w.kept == nil {
		return
	}
	defer w.kept.Leave()
	ctx, stop := cli.WithBound(context.WithoutCancel(ctx), w.Clock, endPatience)
	defer stop()
	switch err := w.kept.Told(ctx, told); {
	case err != nil:
		w.Warn("warning: the state does not have that it was told, and it may come again, as %s: %s",
			w.kept.Occurrence(), cli.Visible(err.Error()))
	case len(w.notify) > 0:
		handover.HandOver(ctx, w.Call, w.Store) // the runner may just have ended with nothing to do
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

// unfinished is the answer when the bound of the call comes first.
func (w *activeWait) unfinished(due time.Time) error {
	now, further := w.Clock.Now().In(w.zone), cli.ContinueWith(w.Call, resuming(w.Call, w.kept.ID(), w.manner(w.Call)))
	left := max(-w.late(w.Clock, due), 0)
	if w.held > 0 {
		left, due = w.held, now.Add(w.held)
	}
	w.Answer(waitingJSON{now, "waiting", w.kept.ID(), cli.OrNull(w.task), cli.OrNull(w.name), due.In(w.zone),
		cli.Seconds(left), w.held > 0, w.kind, w.text, w.zone.String(), further, w.runner.Runner,
		w.WarningTexts(w.warnings())})
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
	o.Note("still waiting%s (%s): %s", what, a.ID, when)
	o.ShowContinue(a.Continue)
}
