// Package waiting has the command wait, which blocks until an instant or the first of several
// things.
package waiting

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// WaitCommand is the command wait.
func WaitCommand() cli.Command {
	return cli.Command{
		Name: "wait", Args: "<when> [<task>...] | --resume <id> | --any <thing>...",
		Short: "block until a moment, then print the task",
		Long: `
Waits, prints "Timer triggered. Task to execute: <task>", and ends. The first argument is the time, so quote one of
several words; the rest is the task. Without a task nothing is printed, as with sleep: ouro-timer wait 10pm && make.
A bare number is seconds. The older form of mode, value and task works too: wait delay 30 <task>,
wait interval 300 <task>, wait cron "0 9 * * *" <task>.

A recurrence (every 5m, a cron line, a rule) is waited for once, and a second line is the command that waits for the
next time: an interval keeps its phase in it, however long the task took. --count repeats here instead, with a line for
each time. If the machine slept through several times, only the last is told, late, and the others are counted.

A duration follows real time, including the time the machine slept, whatever is done to the clock. An instant, and an
interval with --start, follows the clock. Neither ends early. On a terminal a countdown shows how much is left, and of
what (--name, or the task), and says when it is over; --big draws the largest digits that fit, and --bell rings.
--notify tells somebody else, too, and keeps the wait. Space pauses and resumes a wait of 10 s and more.

A wait with a task or a --name and of more than 10 s outlives its caller: it is kept before it begins, and the command
that resumes it comes first on standard error (not with --json or --quiet). --max bounds the call: when the bound comes
first the exit code is 75 (not yet: call again), and that command is printed; with --max a wait of half a second is kept
already. --resume waits for the same instant, from anywhere, and for the rest of a --count; once the instant has passed
it returns at once. INT cancels such a wait. Whatever else ends the call leaves it, and if nobody waits when its time
comes, the task goes to the inbox. ls shows it, and rm ends it; calls that wait for it then exit with 1. --dry-run says
what would be waited for, and whether it would be kept.

--any waits for the first of several things, each a word: a time (10m, 22:30), task:ID (the next end of a run of it; of
a task that is over, the last), inbox (an item that nobody has; --take leases it), or a target of health-wait
(tcp://localhost:5432, file:PATH). The first line of the answer names the thing, the rest is about it. Exit code 0 means
that one has come, also when it is a run that failed: the answer has its outcome. 75 means --max, with the call that
waits on for the same instants; 1 means that none can come any more. Such a wait is not kept, and changes only what came
first. However short --max is, each thing is checked once.`,
		Examples: []string{
			`ouro-timer wait 3s check the oven`,
			`ouro-timer wait 4m --name tea --big --bell`,
			`ouro-timer wait "tomorrow at 9am" call Bob`,
			`ouro-timer wait --until 22:00 && make backup`,
			`ouro-timer wait 30m --raw "git fetch" | sh`,
			`ouro-timer wait --interval 5m --count 0 tick | while read -r line; do date; done`,
			`ouro-timer wait --cron "0 9 * * 1-5" --json fetch the news`,
			`ouro-timer wait 3h --max 9m --json check the build`,
			`ouro-timer wait --resume w3xq --max 9m --json`,
			`ouro-timer wait --any 10m task:k7m2 tcp://localhost:5432 --json`,
		},
		Arguments: []option.Argument{{Name: "when", Kind: option.Time}, {Name: "task", Kind: option.Text, Many: true}},
		Options: append(cli.WhenFlags,
			option.Option{Name: "start", Kind: option.Time, Group: cli.GroupWhen,
				Help: "a recurrence begins at WHEN: the phase of an interval, the first day of a rule"},
			option.Option{Name: "end", Kind: option.Time, Group: cli.GroupWhen,
				Help: "a recurrence ends at WHEN; that instant still counts"},
			option.Option{Name: "count", Kind: option.Whole, Group: cli.GroupWhen,
				Help: "wait for N times of a recurrence, one line each; 0 is for ever"},
			option.Option{Name: "expect", Kind: option.Timestamp, Group: cli.GroupWhen,
				Help: "refuse unless the time is read as TIMESTAMP (RFC 3339), to the second"},
			option.Option{Name: "raw", Kind: option.Flag, Help: "print the task alone, to pipe it on"},
			option.Option{Name: "resume", Kind: option.ID, Value: "WAIT",
				Help: "go on with WAIT, the ID of an earlier wait"},
			option.Option{Name: "any", Kind: option.Flag, Group: "The first of several things",
				Help: "wait for the first of several things: times, task:ID, inbox, targets of health-wait"},
			option.Option{Name: "take", Kind: option.Duration, Group: "The first of several things", Bare: true,
				Help: "with --any and inbox: lease the item for DURATION (10m when it is left out)"},
			option.Option{Name: "after", Kind: option.Cursor, Group: "The first of several things",
				Value: "PLACE", Help: "with --any: also ends of runs after the PLACE that an earlier call ended with"},
			option.Option{Name: "name", Kind: option.Text, Group: groupTold,
				Help: "what is waited for (TEXT), for people: in the countdown and at its end"},
			option.Option{Name: "notify", Kind: option.Channel, Many: true, OrText: true, Like: "desktop",
				Group: groupTold, Help: "when it is over, also tell by CHANNEL, as at --notify does; may be repeated"},
			option.Option{Name: "bell", Kind: option.Flag, Group: groupTold,
				Help: "ring the terminal's bell when it is over"},
			option.Option{Name: "big", Kind: option.Flag, Group: groupTold,
				Help: "count down in big digits, if they fit on the terminal"},
			cli.MaxFlag, cli.NoAutostartFlag, cli.DryFlag,
			cli.QuietFlag.WithHelp("no countdown, and no note on how the time was read"), cli.ZoneFlag, cli.JSONFlag,
			cli.FieldsFlag),
		Exits: []int{cli.ExitNotFound},
		Answers: []cli.Shape{
			{Name: "wait", Of: triggerJSON{}, Given: "!any !dry-run",
				Means: "an instant that has come; with --count, one for each", Stream: true},
			{Name: "wait-waiting", Of: waitingJSON{}, Given: "!any !dry-run",
				Means: "the bound of --max came first, exit code 75: what is waited for, and how to go on"},
			{Name: "wait-dry-run", Of: wouldWaitJSON{}, Given: "!any dry-run",
				Means: "--dry-run: what would be waited for, and whether it would be kept"},
			{Name: "wait-any", Of: anyJSON{}, Given: "any !dry-run",
				Means: "--any: which has come first, and details"},
			{Name: "wait-any-waiting", Of: anyWaitingJSON{}, Given: "any",
				Means: "--any: the bound of --max came first, exit code 75; --dry-run: what would be waited for"},
		},
		Run: func(ctx context.Context, s *cli.Call) error {
			if s.Opt.Bool("any") {
				return waitAny(ctx, s)
			}
			for _, name := range []string{"take", "after"} {
				if s.Opt.Has(name) {
					return cli.CallInstead(problem.T("%s goes with %s", problem.Option(name), problem.Option("any")),
						anyExample("10m", thingInbox))
				}
			}
			if s.Opt.Has("resume") {
				return resumeWait(ctx, s)
			}
			o, err := newWait(s)
			if err != nil {
				return err
			}
			if s.DryRun {
				return (&activeWait{Call: s, waitOptions: o}).dryRun(ctx)
			}
			return runWait(ctx, s, o)
		},
	}
}

// groupTold is the group of options about who is told.
const groupTold = "Who is told"

// activeWait is a wait under way, in this call.
type activeWait struct {
	*cli.Call
	waitOptions
	kept   *tasks.Wait          // the wait in the store; nil when it is not kept
	runner handover.RunnerState // the runner that tells it when nobody waits
	held   time.Duration        // how much is left while it is paused; 0 when it is not
	drawn  bool                 // a countdown was drawn
}

// runWait waits and answers, as often as the call says. It returns ctx.Err() as soon as ctx ends.
func runWait(ctx context.Context, s *cli.Call, o waitOptions) error {
	w := &activeWait{Call: s, waitOptions: o}
	from := o.begun.Wall
	for due, told := o.first, 0; ; {
		unkept, err := w.keep(ctx, due, told)
		if err != nil {
			return err
		}
		s.WarnAll(unkept)
		w.announceResume()
		if told == 0 {
			o.echo(s)
		}
		due, err = w.await(ctx, from, due)
		if err != nil {
			return w.endEarly(ctx, due, told, err)
		}
		t := w.arrived(due)
		o.skipMissed(&t)
		told++
		next, more := o.following(t.due, told)
		if more {
			t.again = cli.ContinueWith(s, o.withOptions(s, o.nextCall(t.due, o.count-told)))
		}
		if err := t.tell(); err != nil {
			w.kept.Leave()
			return err
		}
		t.announce()
		w.markTold(ctx, t.now)
		if t.missed > 0 {
			s.Warn("%s went by unseen, from %s on", cli.Plural(t.missed, "time"), say.Stamp(due.In(o.zone)))
		}
		if !o.stream || !more {
			return nil
		}
		from, due = t.due, next
	}
}

// following returns the time after due, and whether there is one. told is how many were told.
func (o *waitOptions) following(due time.Time, told int) (time.Time, bool) {
	next, more := o.schedule.Next(due)
	return next, more && o.kind != when.Once && (o.count == 0 || told < o.count || !o.stream)
}

// await waits for due, with a countdown if one is wanted. It returns the instant at which the wait
// was due in the end, which is later when it was paused. Its error is ctx.Err(), errMax when the
// bound of the call came first, or the reason why the kept wait was ended elsewhere.
func (w *activeWait) await(ctx context.Context, from, due time.Time) (time.Time, error) {
	c := newProgress(due)
	stop := func() {}
	var presses <-chan struct{}
	if view.ShowsCountdown(w.Call, w.quiet) {
		w.drawn = w.late(w.Clock, due) < 0
		release := func() {}
		// Nobody pauses a shorter wait, and what is typed during it is for the shell.
		if w.length >= minKept {
			presses, release = cli.SpaceBar(w.World)
		}
		erase := w.countDown(w.Call, c, max(due.Sub(from), w.length), presses != nil)
		stop = func() { erase(); release() }
	}
	defer stop() // standard output may be the same terminal
	waiting, end := context.WithCancelCause(ctx)
	defer end(nil)
	if w.most > 0 {
		go func() {
			if w.Clock.For(waiting, w.most-w.begun.Since(w.Clock)) == nil {
				end(errMax)
			}
		}()
	}
	controlled := make(chan struct{})
	go func() {
		w.control(waiting, c, presses, end)
		close(controlled)
	}()
	err := w.awaitProgress(waiting, w.Clock, c)
	cause := context.Cause(waiting)
	end(nil)
	<-controlled
	due, left, held, _ := c.state()
	if w.held = 0; held {
		w.held = left
	}
	if err == nil || ctx.Err() != nil {
		return due, err
	}
	switch {
	case errors.Is(cause, tasks.ErrTold), errors.Is(cause, errMax) && w.held == 0 && w.late(w.Clock, due) >= 0:
		return due, nil
	default:
		return due, cause
	}
}
