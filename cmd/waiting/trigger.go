package waiting

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// pace says which clock a wait follows.
type pace struct {
	begun   clock.Moment // when the call began; elapsed time counts from here
	elapsed bool         // it follows elapsed time, and not the wall clock
}

// until waits for an instant. Elapsed time is measured on a clock that nobody can set, if the
// system has one.
func (p pace) until(ctx context.Context, c clock.Clock, due time.Time) error {
	if steady, ok := c.(clock.Steady); ok && p.elapsed {
		return steady.UntilBoot(ctx, p.deadline(due))
	}
	return c.Until(ctx, due)
}

// late returns how long ago an instant was. It is negative for an instant to come.
func (p pace) late(c clock.Clock, due time.Time) time.Duration {
	if steady, ok := c.(clock.Steady); ok && p.elapsed {
		return steady.Boot() - p.deadline(due)
	}
	return c.Now().Sub(due)
}

// deadline returns what the boot clock shows at an instant of an elapsed wait. It is bounded by the
// largest Duration, so that a wait of 290 years is not over at once.
func (p pace) deadline(due time.Time) time.Duration {
	return p.begun.Boot + min(due.Sub(p.begun.Wall), math.MaxInt64-p.begun.Boot)
}

// trigger is one time that has come.
type trigger struct {
	of       *activeWait
	now, due time.Time
	late     time.Duration
	missed   int            // instants that went by while the machine slept, before due
	again    cli.ArgvOrNull // the call that waits for the next time
	repeated bool           // it was told before
}

// arrived returns the trigger of a time that has come.
func (w *activeWait) arrived(due time.Time) trigger {
	return trigger{of: w, now: w.Clock.Now().In(w.zone), late: max(0, w.late(w.Clock, due)), due: due.In(w.zone)}
}

// maxMissed is the most missed instants that are counted.
const maxMissed = 100_000

// skipMissed moves t to the latest of several instants that have passed, because one late line
// helps and a burst does not.
func (o *waitOptions) skipMissed(t *trigger) {
	if o.kind == when.Once {
		return
	}
	passed := t.due.Add(t.late)
	latest, ok := o.schedule.Latest(t.due, passed)
	if !ok {
		return
	}
	t.missed = o.schedule.Count(t.due, latest, maxMissed)
	t.late, t.due = passed.Sub(latest), latest.In(o.zone)
}

// nextCall returns the call that waits for the time after due. left is what is left of --count.
func (o *waitOptions) nextCall(due time.Time, left int) problem.Call {
	c := o.again
	if o.kind == when.Interval {
		c = c.With("start", due.Format(time.RFC3339Nano))
	}
	if o.stream {
		c = c.With("count", max(0, left))
	}
	if o.task != "" {
		c = c.Saying(o.task)
	}
	return c
}

// callOptionNames are the options that say how a call blocks and answers.
var callOptionNames = []string{"max", "json", "fields", "raw", "quiet", "bell", "big", "no-autostart"}

// callOptions returns those of this call's options that say how it blocks and answers.
func (o *waitOptions) callOptions(s *cli.Call) (v option.Values) {
	if o.most > 0 {
		v = v.With("max", cli.BoundText(s))
	}
	for _, flag := range callOptionNames[1:] {
		if s.Opt.Bool(flag) {
			v = v.With(flag, s.Opt.Value(flag))
		}
	}
	return v
}

// withOptions adds callOptions to the call c. An empty call stays empty.
func (o *waitOptions) withOptions(s *cli.Call, c problem.Call) problem.Call {
	if c.Command == "" {
		return c
	}
	own := c.Set
	c.Set = nil
	c = cli.With(c, o.callOptions(s), callOptionNames...)
	c.Set = append(c.Set, own...)
	return c
}

// tell writes the answer in one piece. When the reader has gone, the program ends silently.
func (t trigger) tell() error {
	t.of.Answer(triggerJSON{t.now, "triggered", cli.OrNull(t.of.task), cli.OrNull(t.of.name), t.due,
		cli.Seconds(t.late), t.of.kind, t.of.text, t.of.zone.String(), t.missed, t.again,
		cli.OrNull(t.of.kept.ID()), cli.OrNull(t.of.kept.Occurrence()), t.repeated, t.of.raw, t.of.stream})
	err := t.of.Stdout.Flush()
	if err == nil {
		return nil
	}
	t.of.Stdout.Reset(io.Discard) // it is not written a second time
	t.of.InJSON = false
	if errors.Is(err, syscall.EPIPE) {
		return cli.ExitCode(cli.ExitFailed)
	}
	return cli.Unwritten(err)
}

// label returns the name of what is waited for in a countdown. It may be empty.
func (o *waitOptions) label() string {
	if o.name != "" {
		return o.name
	}
	return o.task
}

// announce tells a person at a terminal that the wait is over: with the bell if the call asks for
// it, and in words if there was a countdown. With --count, and when the wait was late, other lines
// say it.
func (t trigger) announce() {
	if t.of.bell && !t.repeated {
		cli.Ring(t.of.World)
	}
	if t.of.stream || t.repeated || t.late >= time.Second || !t.of.drawn {
		return
	}
	now := cli.LocaleOn(context.Background(), t.of.Err, t.of.Getenv).Format(t.now, "15:04:05")
	text := "it is " + now
	if t.of.length > 0 {
		took, verb := say.Distance(t.due.Add(-t.of.length), t.due), " are over, at "
		if strings.HasPrefix(took, "1 ") && strings.Count(took, " ") == 1 {
			verb = " is over, at "
		}
		text = took + verb + now
	}
	if t.of.name != "" {
		text = cli.Visible(t.of.name) + ": " + text
	}
	t.of.Note("%s", text)
}

// triggerJSON is the answer of wait, at each instant.
type triggerJSON struct {
	Now         time.Time      `json:"now"`
	Status      string         `json:"status" jsonschema:"triggered" enum:"triggered"`
	Task        *string        `json:"task,omitempty"`
	Name        *string        `json:"name,omitempty" jsonschema:"as --name gave it"`
	Due         time.Time      `json:"due"`
	LateSeconds float64        `json:"late_seconds"`
	Kind        when.Kind      `json:"kind" enum:"once interval cron rrule"`
	Said        string         `json:"text" jsonschema:"the time, as it was given"`
	TZ          string         `json:"tz"`
	Missed      int            `json:"missed" jsonschema:"instants that had passed before this one"`
	Continue    cli.ArgvOrNull `json:"continue,omitempty" jsonschema:"of a recurrence: the command that waits for the next time; else absent"`
	ID          *string        `json:"id,omitempty" jsonschema:"of the kept wait; absent: it was not kept"`
	Occurrence  *string        `json:"occurrence,omitempty" jsonschema:"the same when the same is told twice; absent: it is told once"`
	Repeated    bool           `json:"repeated,omitempty" jsonschema:"it was told before: to somebody who waited, or by the inbox, where it was taken or acknowledged"`

	raw    bool // only the text of the task is written
	stream bool // the call waits for the next time itself
}

// Text writes the text of the task. Programs look for the sentence, so it does not change.
func (a triggerJSON) Text(o *cli.Out) {
	if a.Task == nil {
		return
	}
	show := func(text string) string { return text }
	if _, terminal := o.Width(); terminal {
		show = cli.Visible
	}
	if a.raw {
		o.Stdout.WriteString(show(*a.Task) + "\n")
		return
	}
	o.Stdout.WriteString("Timer triggered. Task to execute: " + show(*a.Task) + "\n")
	if a.Continue != nil && !a.stream {
		o.Stdout.WriteString("Recurring. To wait for the next time: " + show(cli.ShellLine(a.Continue)) + "\n")
	}
}

// echo says how a time was read, unless a countdown shows it, and what else it could mean.
func (o *waitOptions) echo(s *cli.Call) {
	if !o.elapsed && o.schedule.Kind != when.Interval && o.first.After(o.begun.Wall) && !view.ShowsCountdown(s, o.quiet) {
		// Without Truncate the text could be "in 0.447331433 seconds".
		s.Note("waiting until %s", say.Echo(o.first.In(o.zone), o.begun.Wall.Truncate(time.Second)))
	}
	for _, note := range o.schedule.Notes {
		s.Note("note: %s", cli.Visible(note.Text))
	}
}
