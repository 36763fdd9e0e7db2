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
	// minKept is the length from which a wait with a task is kept without --max. minKeptBounded is
	// the length from which any wait is kept with --max, because its caller may be killed before
	// the bound. Nobody could resume a shorter wait in time.
	minKept        = 10 * time.Second
	minKeptBounded = 500 * time.Millisecond
	// keepTimeout bounds how long a busy store delays a wait that does not have to be kept.
	keepTimeout = 5 * time.Second
	// minKeepTimeout is the time for keeping a wait when the bound of the call is shorter. Its
	// caller wants to go on later, and a store that is busy for a moment must not make that an
	// error.
	minKeepTimeout = 2 * time.Second
	// toldTimeout and cancelTimeout bound how long it takes to write that a wait was told or
	// cancelled, because somebody waits for the end of the program.
	toldTimeout   = 10 * time.Second
	cancelTimeout = 2 * time.Second
)

// errMax ends a wait when the bound of the call comes first.
var errMax = errors.New("the bound of the call has come")

// keeps reports whether the wait for due is kept, how long keeping it may take, and whether the
// bound of the call comes first.
func (o *waitOptions) keeps(s *cli.Call, due time.Time) (keep, bounded bool, timeout time.Duration) {
	left, granted := -o.late(s.Clock, due), o.most-o.begun.Since(s.Clock)
	switch {
	case left <= 0 && len(o.notify) == 0:
		return false, false, 0
	case o.most > 0 && granted <= left:
		return true, true, max(granted, minKeepTimeout)
	case len(o.notify) > 0:
		return true, false, keepTimeout
	}
	return o.most > 0 && left > minKeptBounded || o.label() != "" && left > minKept, false, min(keepTimeout, left/2)
}

// keep keeps the wait for due in the store before it begins, if it is to be kept. told is how many
// times were told. Without --max a wait that cannot be kept goes on with a warning, so that nobody
// misses a time because of the store. Only the quota of a run refuses a wait at its beginning.
func (w *activeWait) keep(ctx context.Context, due time.Time, told int) (unkept []cli.Warning, err error) {
	w.kept = nil
	keep, bounded, timeout := w.keeps(w.Call, due)
	if !keep {
		return nil, nil
	}
	w.kept, err = w.record(ctx, due, told, timeout)
	switch {
	case ctx.Err() != nil:
		return nil, w.endEarly(ctx, due, told, ctx.Err())
	case cli.LimitOf(err) != nil && told == 0:
		return nil, err // the quota of the run is used up
	case err != nil && (bounded || len(w.notify) > 0):
		return nil, w.keepError(err)
	case err != nil:
		return []cli.Warning{{Kind: cli.WarnUnkept, Text: problem.T("this wait cannot be resumed, and ends with its caller: %s",
			cli.Explain(err).Message)}}, nil
	}
	// The runner is started before anything is written, because a reader who learns that the wait
	// can be resumed may end the call at once.
	w.runner = handover.HandOver(ctx, w.Call, w.Store)
	return nil, nil
}

// announceResume writes the call that resumes a kept wait.
func (w *activeWait) announceResume() {
	if w.kept == nil {
		return
	}
	if !w.Quiet && !w.InJSON { // first, for callers that are killed; programs use ls
		w.WriteError("to resume: %s\n", cli.Visible(cli.ShellLine(resumeCall(w.Call, w.kept.ID(),
			w.callOptions(w.Call)).Words(cli.OwnName(w.Call)))))
	}
	w.warnUnready()
}

// warnUnready writes the warnings of a kept wait. With --json and a bound the answer has them.
func (w *activeWait) warnUnready() {
	for _, warning := range w.warnings() {
		if w.most == 0 || !w.InJSON {
			w.WarnAlways("warning: %s", cli.Visible(w.Render(warning.Text)))
		}
	}
}

// warnings returns that no runner would tell the wait, and which channels would not deliver.
func (w *activeWait) warnings() []cli.Warning {
	list := w.runner.Warnings()
	if len(w.notify) > 0 {
		t := state.Task{Text: w.label(), Wait: state.Wait{Kind: string(w.kind)}, Policy: state.Policy{Notify: w.notify}}
		list = append(list, handover.Unready(w.Call, handover.RecipientsOf(w.Call, t), w.runner)...)
	}
	return list
}

// keepError returns the error for a wait that cannot be kept but has to be, because of --max or
// --notify.
func (o *waitOptions) keepError(err error) error {
	if cli.LimitOf(err) != nil {
		return err
	}
	p := cli.Explain(err)
	if len(o.notify) > 0 {
		return p.Saying(problem.T("the wait cannot be kept, and %s would tell nobody: %s",
			problem.Option("notify"), p.Message)).
			Advising(problem.Texts("; ", p.Hint, problem.T("without %s the wait works, but is not kept",
				problem.Option("notify"))))
	}
	return p.Saying(problem.T("the wait cannot be kept, and would be lost after %s: %s", problem.Option("max"),
		p.Message)).
		Advising(problem.Texts("; ", p.Hint, problem.T("without %s the wait works, but is not kept",
			problem.Option("max"))))
}

// record adds the wait to the store as a task, and announces that this call waits for it. timeout
// bounds how long it waits for a busy store.
func (w *activeWait) record(ctx context.Context, due time.Time, told int, timeout time.Duration) (*tasks.Wait, error) {
	st, err := w.Open()
	if err != nil {
		return nil, err
	}
	task := w.asTask(w.Call, due, told)
	if task.Origin, err = cli.Origin(w.Call); err != nil {
		return nil, err
	}
	limited, cancel := cli.WithBound(ctx, w.Clock, timeout)
	defer cancel()
	kept, err := tasks.KeepWait(limited, st, w.Clock, task, due)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = state.ErrBusy
	}
	return kept, err
}

// asTask returns the task of a kept wait. It is for one instant; the answer has the call that waits
// for the next one.
func (o *waitOptions) asTask(s *cli.Call, due time.Time, told int) state.Task {
	t := state.Task{Created: o.begun.Wall.UTC(), Text: o.task, When: o.timing, Terminal: cli.TerminalDevice(s.World),
		Wait: state.Wait{Name: o.name, Text: o.text, Kind: string(o.kind), Elapsed: o.elapsed}}
	if o.kind != when.Once {
		t.When = state.Timing{Text: due.In(o.zone).Format(time.RFC3339Nano), Form: string(when.UntilForm),
			Kind: string(when.Once), Zone: o.zone.String(),
			Start: o.begun.Wall}
		if _, more := o.following(due, told+1); more {
			t.Wait.Again = o.nextCall(due, o.count-told-1).Words("")[1:]
		}
	}
	t.Policy.Notify = o.notify
	if t.Description = o.name; o.label() == "" {
		t.Description = "wait " + o.text
	}
	return t
}

// resumeCall returns the call that resumes the wait, and blocks and answers as this call does.
func resumeCall(s *cli.Call, id string, callOptions option.Values) problem.Call {
	return cli.With(cli.With(problem.To("wait").With("resume", id), callOptions, callOptionNames...), s.Opt, "tz")
}

// endEarly ends a wait whose time has not come.
func (w *activeWait) endEarly(ctx context.Context, due time.Time, told int, err error) error {
	defer w.kept.Leave()
	switch {
	case ctx.Err() != nil:
		if sig, ok := errors.AsType[*cli.Signalled](cli.Caught(ctx)); ok && sig.Signal == os.Interrupt {
			w.cancel()
		}
		return ctx.Err()
	case !errors.Is(err, errMax):
		return err
	}
	if w.kept == nil { // the clock was put back
		if w.kept, err = w.record(ctx, due, told, cancelTimeout); err != nil {
			return w.keepError(err)
		}
		defer w.kept.Leave()
		w.runner = handover.HandOver(ctx, w.Call, w.Store)
	}
	return w.unfinished(due)
}

// cancel ends a kept wait whose caller gave it up.
func (w *activeWait) cancel() {
	if w.kept == nil {
		return
	}
	ctx, stop := cli.WithBound(context.Background(), w.Clock, cancelTimeout)
	defer stop()
	switch cancelled, err := w.kept.Cancel(ctx); {
	case err != nil:
		w.Warn("warning: the wait %s could not be cancelled, and its task will be in the inbox: %s", w.kept.ID(),
			cli.Visible(err.Error()))
	case cancelled:
		w.Note("cancelled the wait %s", w.kept.ID())
	}
}

// markTold writes into the store that the wait was told.
func (w *activeWait) markTold(ctx context.Context, told time.Time) {
	if w.kept == nil {
		return
	}
	defer w.kept.Leave()
	ctx, stop := cli.WithBound(context.WithoutCancel(ctx), w.Clock, toldTimeout)
	defer stop()
	switch err := w.kept.Told(ctx, told); {
	case err != nil:
		w.Warn("warning: the wait could not be marked as told, and may be told again, as %s: %s",
			w.kept.Occurrence(), cli.Visible(err.Error()))
	case len(w.notify) > 0:
		handover.HandOver(ctx, w.Call, w.Store) // the runner may have ended meanwhile
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
	Paused      bool      `json:"paused,omitempty" jsonschema:"it is paused: due is when it would be due if it went on now"`
	Kind        when.Kind `json:"kind" enum:"once interval cron rrule"`
	Said        string    `json:"text" jsonschema:"the time, as it was given"`
	TZ          string    `json:"tz"`
	Continue    []string  `json:"continue,omitempty" jsonschema:"the command that goes on"`
	Runner      string    `json:"runner" enum:"alive started stopped none" jsonschema:"the runner that tells it when nobody waits for it"`
	Warnings    []string  `json:"warnings,omitempty"`
}

// unfinished answers when the bound of the call comes first.
func (w *activeWait) unfinished(due time.Time) error {
	now, further := w.Clock.Now().In(w.zone), cli.ContinueWith(w.Call, resumeCall(w.Call, w.kept.ID(),
		w.callOptions(w.Call)))
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
	due := "due " + view.Echo(a.Due, a.Now)
	if a.Paused {
		due = "paused, " + due + " if it goes on now"
	}
	o.Note("still waiting%s (%s): %s", what, a.ID, due)
	o.ShowContinue(a.Continue)
}
