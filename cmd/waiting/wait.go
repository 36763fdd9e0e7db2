// Package waiting has the command wait, which blocks until an instant or the first of several
// things.
package waiting

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
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
next time: an interval keeps its phase in it, however long the task took. --count repeats here instead, one line each
time. If the machine slept through some of them, the last is told, late, and the others are only counted.

A duration goes by real time, with the time the machine slept, whatever is done to the clock. An instant, and an
interval with --start, goes by the clock. Neither ends early. On a terminal a countdown shows what is left, of what
(--name, or the task), and says when it is over; with --big in digits as large as there is room for, with --bell loudly.
--notify tells somebody else, too: such a wait is always kept. Space pauses a wait for 10 s and more, and has it go on.

A wait with a task and of more than 10 s outlives its caller: it is kept before it begins, and standard error opens
with the command that resumes it, also with --json. --max bounds the call: when the bound comes first the exit code is
75 (not yet: call again), and that command is printed; with --max a wait of half a second is kept already. --resume
goes on with the same instant, from anywhere, and with the rest of a --count; once it has passed it returns at once.
INT cancels such a wait; whatever else ends the call leaves it, and with nobody waiting when its time comes the task
waits in the inbox. ls shows it, and rm ends it: whoever waits is told so, exit code 1 (it will not come). --dry-run
says what would be waited for, and whether it would be kept.

--any waits for the first of several things, each a word: a time (10m, 22:30), task:ID (the next end of a run of it; of
a task that is over its last), inbox (an item that nobody has; --take leases it), or a target of health-wait
(tcp://localhost:5432, file:PATH). The first line of the answer names the thing, the rest is about it. Exit code 0 means
that one has come, also when it is a run that failed: the answer has its outcome. 75 means --max, with the call that goes
on for the same instants; 1 that none can come any more. It is not kept, and only what came first is changed. However
short --max is, each thing is looked at once.`,
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
		Options: append(cli.WhenFlags(),
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
				Help: "go on with WAIT, the ID of one that was begun before"},
			option.Option{Name: "any", Kind: option.Flag, Group: "The first of several things",
				Help: "wait for the first of several things: times, task:ID, inbox, targets of health-wait"},
			option.Option{Name: "take", Kind: option.Duration, Group: "The first of several things", Bare: true,
				Help: "with --any and inbox: lease the item for DURATION (10m when it is left out)"},
			option.Option{Name: "after", Kind: option.Cursor, Group: "The first of several things",
				Value: "PLACE", Help: "with --any: also ends of runs after the PLACE that an earlier call ended with"},
			option.Option{Name: "name", Kind: option.Text, Group: groupTold,
				Help: "what is waited for, for the countdown and the end of it (TEXT); nothing else is printed for it"},
			option.Option{Name: "notify", Kind: option.Channel, Many: true, OrText: true, Like: "desktop",
				Group: groupTold, Help: "when it is over tell by CHANNEL too, as at --notify does; may be repeated"},
			option.Option{Name: "bell", Kind: option.Flag, Group: groupTold,
				Help: "ring the terminal's bell when it is over"},
			option.Option{Name: "big", Kind: option.Flag, Group: groupTold,
				Help: "count down in big digits; a line where the terminal has no room for them"},
			cli.MaxFlag(), cli.NoAutostartFlag(), cli.DryFlag(),
			cli.QuietFlag("no countdown, and no word on how the time was read"), cli.ZoneFlag(), cli.JSONFlag(),
			cli.FieldsFlag()),
		Exits: []int{cli.ExitNotFound},
		Answers: []cli.Shape{
			{Name: "wait", Of: triggerJSON{}, Given: "!any !dry-run",
				Means: "an instant that has come; --count: one for each", Stream: true},
			{Name: "wait-waiting", Of: waitingJSON{}, Given: "!any !dry-run",
				Means: "the bound of --max came first, exit code 75: what is waited for, and how to go on"},
			{Name: "wait-dry-run", Of: wouldWaitJSON{}, Given: "!any dry-run",
				Means: "--dry-run: what would be waited for, and whether it would be kept"},
			{Name: "wait-any", Of: anyJSON{}, Given: "any !dry-run",
				Means: "--any: which has come first, and what is to be said of it"},
			{Name: "wait-any-waiting", Of: anyWaitingJSON{}, Given: "any",
				Means: "--any: the bound of --max came first, exit code 75; --dry-run: what would be waited for"},
		},
		Run: func(ctx context.Context, s *cli.Call) error {
			if s.Opt.Bool("any") {
				return waitAny(ctx, s)
			}
			for _, name := range []string{"take", "after"} {
				if s.Opt.Has(name) {
					return cli.NeedsOption(problem.Option(name), "any", anyLike("10m", thingInbox))
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
				return (&activeWait{Call: s, waitOptions: o}).plan(ctx)
			}
			return runWait(ctx, s, o)
		},
	}
}

// groupTold is the group of options about who is told.
const groupTold = "Who is told"

// waitOptions is a wait, with all its words and options read.
type waitOptions struct {
	schedule *when.Schedule
	zone     *time.Location
	first    time.Time // the first instant to wait for
	task     string
	pace

	kind   when.Kind
	text   string       // the time as it was given
	timing state.Timing // of a task that is about a single time

	name   string        // for people: what is waited for; empty: the task says it
	notify []string      // channels that are told when it is over, also while somebody waits
	length time.Duration // of one that counts from its beginning, and comes once; else 0
	bell   bool
	big    bool

	stream bool // --count: one line each time, and no word on how to go on
	count  int  // how many times; 0 is for ever
	raw    bool
	quiet  bool

	most time.Duration // for how long the call may block; 0: no bound

	// again is the call that waits for the next time, without what changes each time. There is none
	// for a time that comes once.
	again problem.Call
	next  option.Line // the same of a wait that is resumed, as it was kept
}

// newWait turns the words of the call into options.
func newWait(s *cli.Call) (waitOptions, error) {
	// The clocks are read before anything else, so that a delay is not longer by the time it takes
	// to read the rest.
	w := waitOptions{
		pace: pace{begun: clock.Here(s.Clock)}, stream: s.Opt.Has("count"), count: 1,
		raw: s.Opt.Bool("raw"), quiet: s.Quiet,
	}
	if err := w.bound(s); err != nil {
		return w, err
	}
	if w.name = s.Opt.Text("name"); s.Opt.Has("name") && strings.TrimSpace(w.name) == "" {
		return w, problem.Of(problem.T("%s is empty", problem.Option("name")),
			problem.T("say what is waited for: %s", problem.To("wait", "4m").With("name", "tea")))
	}
	if s.Opt.Has("notify") {
		var err error
		if w.notify, err = tasks.Channels(s.Settings, func() string { return cli.ConfigPath(s) },
			s.Opt.List("notify")); err != nil {
			return w, err
		}
	}
	if w.stream {
		if w.count = s.Opt.Int("count"); w.count < 0 {
			return w, problem.Of(problem.T("%s is negative", problem.Option("count")),
				problem.T("give how many times to wait, or 0 for ever"))
		}
	}
	o, err := s.TimeOptions()
	if err != nil {
		return w, err
	}
	o.Now, o.BareSeconds, w.zone = w.begun.Wall.In(o.Zone), true, o.Zone
	for flag, to := range map[string]*time.Time{"start": &o.Start, "end": &o.End} {
		if s.Opt.Has(flag) {
			if *to, err = tasks.Moment(problem.Option(flag), s.Opt.Text(flag), o); err != nil {
				return w, err
			}
		}
	}
	text, form, task, err := waitWords(s, o)
	if err != nil {
		return w, err
	}
	o.Form, w.task = form, strings.Join(task, " ")
	if w.schedule, err = when.Parse(text, o); err != nil {
		return w, err
	}
	if err := w.recur(s, text, o); err != nil {
		return w, err
	}
	w.kind, w.text = w.schedule.Kind, w.schedule.Text
	w.timing = tasks.Timing(w.schedule, o, w.first, 0, 0)
	w.timing.Wall = "" // the instant stays the same even if the rules of the zone change
	if w.schedule.Delay > 0 {
		// a bare number is seconds here, and nowhere else
		w.timing.Text, w.timing.Form = w.schedule.Canonical, ""
	}
	return w, w.expect(s)
}

// bound reads the options of every wait: how long it may block, and how it answers.
func (w *waitOptions) bound(s *cli.Call) (err error) {
	w.bell, w.big = s.Opt.Bool("bell"), s.Opt.Bool("big")
	switch {
	case w.raw && s.InJSON:
		return cli.Excluding("raw", "json")
	case w.big && s.InJSON:
		return cli.Excluding("big", "json")
	case w.big && w.quiet:
		return cli.Excluding("big", "quiet")
	}
	w.most, err = cli.Bound(s)
	return err
}

// recur finds the first instant of a recurrence, its phase, and the call that waits for the next
// time.
func (w *waitOptions) recur(s *cli.Call, text string, o when.Options) error {
	if w.schedule.Kind == when.Once {
		// The parser does not get --count, which here counts what is told, not what is scheduled.
		if s.Opt.Has("count") {
			return problem.Of(problem.T("%s belongs to a recurrence, and %s comes once", problem.Option("count"),
				cli.Quote(w.schedule.Text)),
				problem.T("leave it out, or wait for a recurrence, such as %s or %s", problem.Set("every", "5m"),
					problem.Set("cron", "0 9 * * *")))
		}
		w.first, w.elapsed, w.length = w.schedule.At, w.schedule.Delay > 0, w.schedule.Delay
		return nil
	}
	again := problem.To("wait")
	rule := w.schedule.Canonical
	if o.Form == when.CronForm || o.Form == when.RRuleForm {
		rule = w.schedule.Text // the words the caller knows
	}
	switch w.schedule.Kind {
	case when.Interval:
		if !s.Opt.Has("start") {
			w.elapsed = true
			// A phase on a whole millisecond can be written down and typed again. Up, because early
			// is worse than late.
			o.Start = o.Now.Add(time.Millisecond - 1).Truncate(time.Millisecond)
			var err error
			if w.schedule, err = when.Parse(text, o); err != nil {
				return err
			}
		}
		again = again.With("interval", strings.TrimPrefix(rule, "every "))
	case when.Cron:
		again = again.With("cron", rule)
	case when.RRule:
		again = again.With("rrule", rule)
		if strings.Contains(strings.ToUpper(rule), "DTSTART") {
			break
		}
		// A rule that counts or skips days means other days from another start.
		start := w.schedule.Begin
		if start.IsZero() { // a phrase, whose times are all in the rule
			start = o.Now.Truncate(time.Minute)
		}
		again = again.With("start", start.In(w.zone).Format(time.RFC3339Nano))
	}
	if s.Opt.Has("end") {
		again = again.With("end", o.End.Format(time.RFC3339Nano))
	}
	w.again = cli.With(again, s.Opt, "tz", "name", "notify")
	first, ok := w.schedule.Next(o.Now)
	if !ok {
		return problem.New(problem.Never, problem.T("%s does not come again after %s", cli.Quote(w.schedule.Text),
			when.Stamp(o.Now)),
			problem.T("give a later %s, or leave it out", problem.Option("end")))
	}
	w.first = first
	return nil
}

// expect compares the instant that was read with the one that the caller means.
func (w *waitOptions) expect(s *cli.Call) error {
	if !s.Opt.Has("expect") {
		return nil
	}
	text := s.Opt.Text("expect")
	t, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	if err != nil {
		return problem.NoTimestamp("expect", text, w.first.In(w.zone))
	}
	if w.first.Truncate(time.Second).Equal(t.Truncate(time.Second)) {
		return nil
	}
	read := w.first.In(w.zone).Truncate(time.Second)
	return problem.New(problem.Differs, problem.T("%s is read as %s, not as %s", cli.Quote(w.schedule.Text),
		when.Stamp(read), text),
		problem.T("to wait for what you expect: %s; for the reading: %s", problem.To("wait").With("until", text),
			problem.Set("expect", read.Format(time.RFC3339))))
}

// activeWait is a wait under way, in this call.
type activeWait struct {
	*cli.Call
	waitOptions
	kept   *tasks.Wait          // the wait in the store; nil when it is not kept
	runner handover.RunnerState // who tells it when nobody waits
	held   time.Duration        // how much is left while it is paused; 0 when it is not
	seen   bool                 // a countdown showed what was left
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
		w.resumable()
		if told == 0 {
			o.echo(s)
		}
		due, err = w.await(ctx, from, due)
		if err != nil {
			return w.over(ctx, due, told, err)
		}
		t := trigger{of: w, now: s.Clock.Now().In(o.zone), late: max(0, o.late(s.Clock, due)), due: due.In(o.zone)}
		o.skip(&t)
		told++
		next, more := o.following(t.due, told)
		if more {
			t.again = cli.ContinueWith(s, o.further(s, o.after(t.due, o.count-told)))
		}
		if err := t.tell(); err != nil {
			w.kept.Leave()
			return err
		}
		t.ring()
		w.end(ctx, t.now)
		if t.missed > 0 {
			s.Warn("%s went by unseen, from %s on", cli.Plural(t.missed, "time"), when.Stamp(due.In(o.zone)))
		}
		if !o.stream || !more {
			return nil
		}
		from, due = t.due, next
	}
}

// following returns the time after due, and whether there is one after so many were told.
func (o *waitOptions) following(due time.Time, told int) (time.Time, bool) {
	next, more := o.schedule.Next(due)
	return next, more && o.kind != when.Once && (o.count == 0 || told < o.count || !o.stream)
}

// await waits for due, with a countdown if one is wanted, and returns when the wait was due in the
// end, which is later when it was paused. Its error is ctx.Err(), errMax when the bound of the call
// came first, or the reason why the kept wait was ended elsewhere.
func (w *activeWait) await(ctx context.Context, from, due time.Time) (time.Time, error) {
	c := newProgress(due)
	stop := func() {}
	var presses <-chan struct{}
	if view.Counts(w.Call, w.quiet) {
		w.seen = w.late(w.Clock, due) < 0
		letGo := func() {}
		// Nobody pauses a shorter wait, and what is typed ahead meanwhile is for the shell.
		if w.length >= keepLeast {
			presses, letGo = cli.SpaceBar(w.World)
		}
		drawn := w.countDown(w.Call, c, max(due.Sub(from), w.length), presses != nil)
		stop = func() { drawn(); letGo() }
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
	steered := make(chan struct{})
	go func() {
		w.control(waiting, c, presses, end)
		close(steered)
	}()
	err := w.follow(waiting, w.Clock, c)
	cause := context.Cause(waiting)
	end(nil)
	<-steered
	due, left, held, _ := c.stand()
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
