package view

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/await"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// EndedShapes are the forms of the answer of a call with --wait.
var EndedShapes = []cli.Shape{
	{Name: "run-ended", Of: EndedJSON{}, Given: "wait !dry-run",
		Means: "--wait: how the run ended, and the end of what it wrote"},
	{Name: "run-waiting", Of: NotEndedJSON{}, Given: "wait !dry-run", Means: "--wait: --max was reached; how to go on"},
}

// EndedOutputMost is how many bytes from the end of each stream the answer about an awaited run
// has.
const EndedOutputMost = 4 << 10

// EndedJSON is the answer about an awaited run that has ended.
type EndedJSON struct {
	Now    time.Time `json:"now"`
	Status string    `json:"status" jsonschema:"ended" enum:"ended"`
	LineJSON
	Warnings []string `json:"warnings,omitempty"`

	line state.Line
}

// Text writes the output of the run, each stream to the same stream of this call, and how it ended.
func (a EndedJSON) Text(o *cli.Out) {
	_, terminal := o.Width()
	for _, stream := range []struct {
		from  *outputJSON
		write func(string)
	}{{a.Stdout, func(text string) { _, _ = o.Stdout.WriteString(text) }},
		{a.Stderr, func(text string) { o.WriteError("%s", text) }}} {
		if stream.from == nil || stream.from.Text == nil {
			continue
		}
		text := *stream.from.Text
		if terminal {
			text = cli.VisibleLines(text)
		}
		if stream.write(text); stream.from.Truncated {
			o.Note("… (the end of %d bytes; %s log %s has more)", stream.from.Bytes, o.Program(), *a.ID)
		}
	}
	name := a.TaskID
	if a.ID != nil {
		name = *a.ID
	}
	o.Note("%s %s", name, OutcomeOn(a.line))
}

// NotEndedJSON is the answer when --max is reached before the run ends.
type NotEndedJSON struct {
	Now      time.Time      `json:"now"`
	Status   string         `json:"status" jsonschema:"waiting" enum:"waiting"`
	TaskID   string         `json:"task_id"`
	State    string         `json:"state" enum:"pending running paused ended"`
	Due      *time.Time     `json:"due,omitempty" jsonschema:"when it is due next; absent: nothing more comes"`
	Running  []string       `json:"running,omitempty" jsonschema:"the runs that go on"`
	Continue cli.ArgvOrNull `json:"continue" jsonschema:"the command that waits further"`
	Warnings []string       `json:"warnings,omitempty"`
}

// Text writes which run has not ended, and the call that waits for it.
func (a NotEndedJSON) Text(o *cli.Out) {
	switch {
	case len(a.Running) > 0:
		o.Note("%s is still running", strings.Join(a.Running, ", "))
	case a.Due != nil:
		o.Note("still waiting for %s: due %s", a.TaskID, Echo(*a.Due, a.Now))
	}
	o.ShowContinue(a.Continue)
}

// AwaitEnd waits for the end of a run, and answers how it ended. The exit code is 0 for success,
// 124 for a run that its timeout ended, and else 1. If the run does not end within most (0 means no
// bound), the answer has the call that continues, the code is 75, and the run is left alone. The
// item of a run that was answered is acknowledged.
func AwaitEnd(ctx context.Context, s *cli.Call, st state.Store, a await.Run, most time.Duration, output int64,
	warnings []cli.Warning) error {
	limited, cancel := cli.WithBound(ctx, s.Clock, most)
	defer cancel()
	line, at, err := a.End(limited, st, s.Clock)
	again := problem.To("log", a.ID)
	if a.Number > 0 {
		again = problem.To("log", state.OccurrenceID(a.ID, a.Number))
	}
	again = again.With("wait", true)
	if a.Number == 0 {
		again = again.With("after", at.String())
	}
	again = cli.With(again, s.Opt, "output-limit")
	switch {
	case ctx.Err() != nil:
		s.Note("the task continues without this call")
		s.ShowContinue(cli.With(again, s.Opt, "max", "json", "fields", "tz").Words(cli.OwnName(s)))
		return ctx.Err()
	case errors.Is(context.Cause(limited), cli.ErrBoundReached) && err != nil:
		return notEnded(ctx, s, st, a, cli.With(again.With("max", cli.BoundText(s)), s.Opt, "json", "fields",
			"tz"), warnings)
	case err != nil:
		return err
	}
	answer, err := EndOf(ctx, s, st, line, output)
	if err != nil {
		return err
	}
	answer.Warnings = s.WarningTexts(warnings)
	s.Answer(answer)
	if err := s.Flush(); err != nil {
		return err
	}
	answer.Acknowledge(ctx, st)
	switch line.Outcome {
	case state.OK:
		return nil
	case state.TimedOut:
		return cli.ExitCode(cli.ExitTimedOut)
	}
	return cli.ExitCode(cli.ExitFailed)
}

// EndOf returns how a run ended, with output bytes from the end of each stream.
func EndOf(ctx context.Context, s *cli.Call, st state.Outputs, line state.Line, output int64) (a EndedJSON, err error) {
	zone, err := s.Zone()
	if err != nil {
		return a, err
	}
	row := LineWithOutput(ctx, st, line, zone, output)
	row.Inbox = nil // this answer delivers it
	return EndedJSON{Now: s.Now(zone), Status: "ended", LineJSON: row, line: line}, nil
}

// Acknowledge acknowledges the item of the run, because the caller that waited for it has the
// answer. The item may not be there yet.
func (a EndedJSON) Acknowledge(ctx context.Context, st state.Mail) {
	if a.ID != nil {
		_ = st.Ack(context.WithoutCancel(ctx), []string{*a.ID})
	}
}

// notEnded answers a call whose bound was reached first.
func notEnded(ctx context.Context, s *cli.Call, st state.Tasks, a await.Run, again problem.Call,
	warnings []cli.Warning) error {
	list, err := st.Find(ctx, a.ID)
	if err != nil {
		return err
	}
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	e := list[0]
	answer := NotEndedJSON{Now: s.Now(zone), Status: "waiting", TaskID: e.Task.ID, State: StateName(e),
		Due: cli.Instant(DueOf(e), zone), Continue: cli.ContinueWith(s, again), Warnings: s.WarningTexts(warnings)}
	for _, r := range e.Open {
		answer.Running = append(answer.Running, state.OccurrenceID(e.Task.ID, r.Number))
	}
	s.Answer(answer)
	return cli.ExitCode(cli.ExitMax)
}
