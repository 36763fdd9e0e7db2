package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// What config.toml sets when it does not say.
const (
	lineagePending     = 50
	lineagePerHour     = 60
	lineageMinInterval = "1m"
)

// origin is the ID of the task that this call came of: of the one whose run it is part of, or of that one's origin. It is empty for a call
// that is part of none.
func origin(s *session) (string, error) {
	if s.cameOf != "" {
		return s.cameOf, nil
	}
	id := s.Getenv(runner.OriginVariable)
	if id != "" && !state.WholeID(id) {
		return "", problem.Of(problem.T("%s is %s, which is no task's ID", runner.OriginVariable, quote(id)), problem.T("it is set for the runs of tasks; elsewhere: unset %s", runner.OriginVariable))
	}
	return id, nil
}

// storeLimits are the limits that the store holds its callers to.
func (s *session) storeLimits() (state.Limits, error) {
	config, err := s.settings()
	if err != nil {
		return state.Limits{}, err
	}
	l := state.Limits{Tasks: config.Limits.MaxTasks, Pending: lineagePending, PerHour: lineagePerHour, File: configPath(s)}
	if n := config.Lineage.Pending; n != nil {
		l.Pending = *n
	}
	if n := config.Lineage.PerHour; n != nil {
		l.PerHour = *n
	}
	return l, nil
}

// spanOf is a span of time of config.toml; 0 for none. What cannot be read was refused with the file.
func spanOf(text string) time.Duration {
	if text == "" {
		return 0
	}
	d, _ := state.ParseSpan(text)
	return d
}

// checkTime refuses a time that the settings do not allow: a first instant that is too near or too far, and instants of a recurrence that
// are too close to each other.
func checkTime(s *session, t state.Task, sched *when.Schedule, due, now time.Time) error {
	config, err := s.settings()
	if err != nil {
		return err
	}
	origin, err := origin(s)
	if err != nil {
		return err
	}
	limits := config.Limits
	wait := due.Sub(now)
	if least := spanOf(limits.MinDelay); least > 0 && wait < least {
		return tooSoon(s, "the first instant comes "+inWords(now, due, "less", least)+", and the least is "+spanWords(least), "min_delay", "limits", "say a later time, such as "+briefly(least))
	}
	if most := spanOf(limits.MaxDelay); most > 0 && wait > most {
		return tooSoon(s, "the first instant comes "+inWords(now, due, "more", most)+", and the most is "+spanWords(most), "max_delay", "limits", "say an earlier time, such as "+briefly(most))
	}
	if sched == nil || !t.Recurring() {
		return nil
	}
	least, table, whose := spanOf(limits.MinInterval), "limits", ""
	if t.Origin != "" || origin != "" { // made by a run, or changed by one: then whose it is does not count
		of := spanOf(orElse(config.Lineage.MinInterval, lineageMinInterval))
		if of > least {
			least, table, whose = of, "lineage", " for what a run of a task schedules"
		}
	}
	if gap, near := tooNear(sched, now, least); near {
		return tooSoon(s, quote(t.When.Text)+" has instants "+spanWords(gap)+" apart, and the least"+whose+" is "+spanWords(least), "min_interval", table,
			"say a longer interval, such as every "+briefly(least))
	}
	return nil
}

// tooSoon is the refusal of a time by a setting.
func tooSoon(s *session, message, key, table, hint string) error {
	return problem.New(problem.Limit, problem.T("%s ([%s] %s)", message, table, key), problem.T("%s; or change %s under [%s] in %s", hint, key, table, configPath(s)))
}

// inWords is a distance as it stands in a sentence, beside the bound that it is less or more than.
func inWords(now, due time.Time, than string, bound time.Duration) string {
	switch words := when.Distance(now, due); {
	case !due.After(now):
		return "now"
	case words == spanWords(bound): // words leave out what is small
		return "in " + than + " than " + words
	default:
		return "in " + words
	}
}

// spanWords is a span in words.
func spanWords(d time.Duration) string {
	from := time.Unix(0, 0).UTC()
	return when.Distance(from, from.Add(d))
}

// briefly is a span as it can be typed.
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

// gapsMost is how many of a recurrence's next instants are looked at: a day of minutes, and years of what is rare.
const gapsMost = 400

// tooNear looks for two instants of a recurrence that follow each other, among its next ones, and are closer than the least, and says by
// how much they are apart.
func tooNear(sched *when.Schedule, now time.Time, least time.Duration) (gap time.Duration, near bool) {
	if least <= 0 {
		return 0, false
	}
	last, ok := sched.Next(now)
	for range gapsMost {
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

// shortened is by how much a change of the clocks may have brought two instants closer to each other that are whole days apart: a day of
// 23 hours is one. What is less than days is elapsed time, whatever the clocks show.
func shortened(last, next time.Time, least time.Duration) time.Duration {
	if least%(24*time.Hour) != 0 {
		return 0
	}
	_, after := next.Zone()
	_, before := last.Add(-2 * time.Hour).Zone() // an instant that the change left out comes right behind it
	return max(0, time.Duration(after-before)*time.Second)
}

// checkAllowed refuses a command that [run] allow does not have.
func checkAllowed(ctx context.Context, s *session, t state.Task) error {
	if s.sample {
		return nil
	}
	config, err := s.settings()
	if err != nil {
		return err
	}
	refusal, err := runner.Forbidden(ctx, t, config.Run.Allow)
	if err != nil {
		return err
	}
	if given := s.opt.List("env"); refusal == nil && config.Run.Allow != nil && len(given) > 0 { // it would be one that is captured
		name, _, _ := strings.Cut(given[0], "=")
		refusal = &rules.Refusal{Variable: name}
	}
	if refusal != nil {
		return notAllowed(s, refusal)
	}
	return nil
}

// runPath is the PATH of what is executed: that of the call; with [run] allow the part of it that counts then.
func runPath(s *session) (string, error) {
	if _, err := s.home(); err != nil { // no place for a list
		return s.Getenv("PATH"), nil
	}
	config, err := s.settings()
	if err != nil || config.Run.Allow == nil || s.sample {
		return s.Getenv("PATH"), err
	}
	return state.PathOf(config.Run.Allow, s.Getenv("PATH")), nil
}

// withPath is the world with another PATH for what is executed.
func (w World) withPath(path string) World {
	environ := w.Environ
	w.Environ = func() []string {
		list := slices.DeleteFunc(slices.Clone(environ()), func(pair string) bool { return strings.HasPrefix(pair, "PATH=") })
		return append(list, "PATH="+path)
	}
	return w
}

// allowed refuses commands of exec: targets and behind -- that [run] allow does not have. Where there is no place for a config.toml there
// is no list.
func (o *healthOptions) allowed(ctx context.Context, s *session) error {
	jobs := []state.Job{{Argv: o.argv}}
	for _, t := range o.targets {
		if t.Scheme() == "exec" {
			jobs = append(jobs, state.Job{Shell: t.Arg(), Prog: needs.Shell})
		}
	}
	if len(jobs) == 1 && o.argv == nil {
		return nil
	}
	if _, err := s.home(); err != nil {
		return nil
	}
	dir, _ := s.Getwd() // where it cannot be told, a relative path is none of the list's
	for _, job := range jobs {
		job.Dir, job.Env = dir, map[string]string{"PATH": s.Getenv("PATH")}
		if err := checkAllowed(ctx, s, state.Task{Run: job}); err != nil {
			return err
		}
	}
	return nil
}

// runPath is the PATH of what health-wait executes, which has it from then on. A call that executes nothing has no need of the settings.
func (o *healthOptions) runPath(s *session) (string, error) {
	if !s.dash && !slices.ContainsFunc(o.targets, func(t health.Target) bool { return t.Scheme() == "exec" }) {
		return "", nil
	}
	path, err := runPath(s)
	if err == nil && path != s.Getenv("PATH") {
		s.World = s.withPath(path)
		o.wait.Env = s.Environ()
	}
	return path, err
}

// notAllowed is the refusal of a command, with what the user would have to write to allow it.
func notAllowed(s *session, r *rules.Refusal) error {
	return problem.New(problem.NotAllowed, problem.T(r.Error()), allowing(s, r))
}

// allowing says what to do about a command that is not allowed.
func allowing(s *session, r *rules.Refusal) problem.Text {
	switch {
	case r.Argv == nil:
		return problem.T("leave it out, or let the command set it itself")
	case r.Program == "":
		return problem.T("there is no program called %s in the folders that the list names and those of the system; those that may run are named by allow under [run] in %s",
			quote(r.Argv[0]), configPath(s))
	case filepath.Clean(r.Program) != r.Program:
		return problem.T("call it by its direct path: %s", quote(filepath.Clean(r.Program)))
	}
	pattern, ok := state.Pattern(r.Program, r.Argv[1:])
	if !ok {
		return problem.T("no pattern of the list can name it, as it is not valid UTF-8")
	}
	write := problem.T("write %s into allow under [run] in %s", tomlQuote(pattern), configPath(s))
	switch {
	case len(r.Argv) == 1:
		return problem.T("to allow it, %s; that allows it with any arguments, as no pattern can say that there are none", write)
	case len(r.Argv) == 3 && r.Argv[1] == "-c":
		return problem.T("text for a shell needs the shell; give a command by itself (%s), or %s", problem.Set(problem.Command, []string{"COMMAND"}), write)
	}
	return problem.T("to allow it, %s", write)
}

// tomlQuote is a text as it is written into config.toml, on one line.
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

// charge counts a change that has a task run anew, when a run of a task makes it: what it may do in an hour is limited.
func charge(ctx context.Context, s *session, st state.Changes) error {
	origin, err := origin(s)
	if err != nil || origin == "" {
		return err
	}
	return changes(s, st).Charge(ctx, origin, s.Clock.Now())
}

// rescheduled reports whether a change of these fields has a task run at other times.
func rescheduled(fields []string) bool {
	return slices.Contains(fields, "due") || slices.Contains(fields, "when")
}

// limitFailure is the refusal by a limit of the store.
func limitFailure(e *state.LimitError) *problem.Problem {
	file := orElse(e.File, "config.toml")
	hint := problem.T("end some (%s shows them), or set max_tasks under [limits] in %s higher (0: no limit)", problem.To("ls"), file)
	switch e.Setting {
	case state.SettingPerHour:
		hint = problem.T("there is room again at %s; or set per_hour under [lineage] in %s higher (0: no limit)", e.Again.UTC().Format(time.RFC3339), file)
	case state.SettingPending:
		hint = problem.T("end some of them: %s, %s; or set pending under [lineage] in %s higher (0: no limit)",
			problem.To("ls").With("origin", e.Origin), problem.To("rm").With("origin", e.Origin), file)
	}
	return problem.New(problem.Limit, problem.T(e.Error()), hint)
}

// limitOf is the limit that an error is about, or nil.
func limitOf(err error) *state.LimitError {
	var limit *state.LimitError
	if errors.As(err, &limit) {
		return limit
	}
	return nil
}
