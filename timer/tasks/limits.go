package tasks

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// LineageMinInterval is the least time between instants of a recurrence that a run of a task
// schedules, when config.toml does not say.
const LineageMinInterval = "1m"

// spanOf returns a duration of config.toml, or 0 for none. A wrong one was refused with the file.
func spanOf(text string) time.Duration {
	if text == "" {
		return 0
	}
	d, _ := state.ParseSpan(text)
	return d
}

// checkTime refuses a time that the settings forbid: a first instant too near or too far away, or
// instants of a recurrence too close to each other.
func (c timing) checkTime() error {
	t, sched, due, now := c.Task, c.Sched, c.Due, c.Now
	config, err := c.Settings()
	if err != nil {
		return err
	}
	origin, err := c.Origin()
	if err != nil || state.IsUnscheduled(due) {
		return err
	}
	limits := config.Limits
	wait := due.Sub(now)
	if least := spanOf(limits.MinDelay); least > 0 && wait < least {
		return c.forbidden("the first instant comes "+distanceInWords(now, due, "less", least)+", and the least is "+spanWords(least), "min_delay", "limits", "say a later time, such as "+briefly(least))
	}
	if most := spanOf(limits.MaxDelay); most > 0 && wait > most {
		return c.forbidden("the first instant comes "+distanceInWords(now, due, "more", most)+", and the most is "+spanWords(most), "max_delay", "limits", "say an earlier time, such as "+briefly(most))
	}
	if sched == nil || !t.Recurring() {
		return nil
	}
	least, table, whose := spanOf(limits.MinInterval), "limits", ""
	// a run made or changed it, so it does not matter whose task it is
	if t.Origin != "" || origin != "" {
		of := spanOf(cmp.Or(config.Lineage.MinInterval, LineageMinInterval))
		if of > least {
			least, table, whose = of, "lineage", " for what a run of a task schedules"
		}
	}
	if gap, near := tooNear(sched, now, least); near {
		return c.forbidden(plain.Quote(t.When.Text)+" has instants "+spanWords(gap)+" apart, and the least"+whose+" is "+spanWords(least), "min_interval", table,
			"say a longer interval, such as every "+briefly(least))
	}
	return nil
}

// forbidden returns the refusal of a time by a setting: the message, the key and its table, and
// what to say instead.
func (c timing) forbidden(message, key, table, hint string) error {
	return problem.New(problem.Limit, problem.T("%s ([%s] %s)", message, table, key), problem.T("%s; or change %s under [%s] in %s", hint, key, table, c.File()))
}

// distanceInWords returns a distance for a sentence that compares it with a bound.
func distanceInWords(now, due time.Time, than string, bound time.Duration) string {
	switch words := say.Distance(now, due); {
	case !due.After(now):
		return "now"
	case words == spanWords(bound): // words leave out small parts
		return "in " + than + " than " + words
	default:
		return "in " + words
	}
}

// spanWords returns a duration in words.
func spanWords(d time.Duration) string {
	from := time.Unix(0, 0).UTC()
	return say.Distance(from, from.Add(d))
}

// briefly returns a duration as it can be typed.
func briefly(d time.Duration) string {
	for _, unit := range []struct {
		span time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d >= unit.span && d%unit.span == 0 {
			return fmt.Sprintf("%d%s", d/unit.span, unit.name)
		}
	}
	return d.String()
}

// maxGaps is how many of the next instants of a recurrence are checked: a day of minutes, or years
// of a rare one.
const maxGaps = 400

// tooNear finds two successive instants among the next ones of a recurrence that are closer than
// least, and returns their distance.
func tooNear(sched *when.Schedule, now time.Time, least time.Duration) (gap time.Duration, near bool) {
	if least <= 0 {
		return 0, false
	}
	last, ok := sched.Next(now)
	for range maxGaps {
		next, more := sched.Next(last)
		if !ok || !more {
			break
		}
		if gap = next.Sub(last); gap < least && gap+shortened(last, next, least) < least {
			return gap, true
		}
		last = next
	}
	return 0, false
}

// shortened returns by how much a change of the clocks may have brought two instants closer that
// are whole days apart, as on a day of 23 hours. Distances below a day are elapsed time and do not
// change.
func shortened(last, next time.Time, least time.Duration) time.Duration {
	if least%(24*time.Hour) != 0 {
		return 0
	}
	_, after := next.Zone()
	// The instant that the change skipped comes right after it.
	_, before := last.Add(-2 * time.Hour).Zone()
	return max(0, time.Duration(after-before)*time.Second)
}

// Allowed refuses a command that the patterns of [run] allow, in the file, do not match, and
// variables that are named for it.
func Allowed(ctx context.Context, t state.Task, named, allow []string, file string) error {
	refusal, err := runner.Forbidden(ctx, t, allow)
	if err != nil {
		return err
	}
	if refusal == nil && allow != nil && len(named) > 0 { // it would be one that is captured
		name, _, _ := strings.Cut(named[0], "=")
		refusal = &rules.Refusal{Variable: name}
	}
	if refusal != nil {
		return NotAllowed(refusal, file)
	}
	return nil
}

// checkAllowed refuses a command that the settings do not allow.
func (c doing) checkAllowed(ctx context.Context) error {
	if c.Sample {
		return nil
	}
	config, err := c.Settings()
	if err != nil {
		return err
	}
	return Allowed(ctx, c.Task, c.Env, config.Run.Allow, c.File())
}

// NotAllowed returns the refusal of a command, with what the user would have to write to allow it.
func NotAllowed(r *rules.Refusal, file string) error {
	return problem.New(problem.NotAllowed, problem.T(r.Error()), allowing(r, file))
}

// allowing returns what to do about a command that is not allowed.
func allowing(r *rules.Refusal, file string) problem.Text {
	switch {
	case r.Argv == nil:
		return problem.T("leave it out, or let the command set it itself")
	case r.Program == "":
		return problem.T("there is no program called %s in the folders that the list names and those of the system; those that may run are named by allow under [run] in %s",
			plain.Quote(r.Argv[0]), file)
	case filepath.Clean(r.Program) != r.Program:
		return problem.T("call it by its direct path: %s", state.ShellLine([]string{filepath.Clean(r.Program)}))
	}
	pattern, ok := state.Pattern(r.Program, r.Argv[1:])
	if !ok {
		return problem.T("no pattern of the list can name it, as it is not valid UTF-8")
	}
	write := problem.T("write %s into allow under [run] in %s", tomlQuote(pattern), file)
	switch {
	case len(r.Argv) == 1:
		return problem.T("to allow it, %s; that allows it with any arguments, as no pattern can say that there are none", write)
	case len(r.Argv) == 3 && r.Argv[1] == "-c":
		return problem.T("text for a shell needs the shell; give a command by itself (%s), or %s", problem.Set(problem.Command, []string{"COMMAND"}), write)
	}
	return problem.T("to allow it, %s", write)
}

// tomlQuote writes a text for config.toml, on one line.
func tomlQuote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// rescheduled reports whether a change of these fields makes a task run at other times.
func rescheduled(fields []string) bool {
	return slices.Contains(fields, "due") || slices.Contains(fields, "when") || slices.Contains(fields, "except")
}
