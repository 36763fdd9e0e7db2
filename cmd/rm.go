package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

func rmCommand() command {
	return command{
		exits: []int{exitMax}, // OURO_MAX with --kill
		name:  "rm", args: "<id>... | --match <text> | --origin <id>", short: "cancel tasks",
		long: `
No further occurrence of the tasks starts; a command that is running goes on, unless --kill ends it as ouro-timer stop
does. The beginning of an ID is enough when no other task has it. Every ID is tried: those that cannot be removed are
told on standard error, the others are removed, and the exit code is that of the first that failed (3: no such task, 4:
its file cannot be read or moved). What was removed can be had back for 30 days: ouro-timer restore <id>

--origin cancels all that came of the runs of one task, which itself goes on.`,
		examples:  []string{"ouro-timer rm k7m2", `ouro-timer rm --match "call Bob"`, "ouro-timer rm --origin k7m2"},
		ids:       "live",
		arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		options: option.Rows{matchFlag(), originFlag("all that came of the runs of task `ID`"), option.Option{Name: "kill", Kind: option.Flag, Help: "end what runs of them, too: TERM, and KILL 10 s later"},
			dryFlag(), quietFlag("print nothing but errors"), zoneFlag(), jsonFlag()},
		answers: []answer{{name: "rm", of: rmJSON{}, says: "what was removed"}},
		run:     runRm,
	}
}

func runRm(ctx context.Context, s *session) error {
	st, err := s.open()
	if err != nil {
		return err
	}
	found, failed, err := pick(ctx, s, st, func(e state.Entry) bool { return live(e) || len(e.Open) > 0 && e.Phase != state.Removed })
	if err != nil {
		return err
	}
	removed, ended, kill := []removedTask{}, []*stopped{}, s.opt.Bool("kill")
	bound, most := stopWait, time.Duration(0)
	if kill {
		if most, err = longest(s); err != nil {
			return err
		}
		if most > 0 {
			bound = min(bound, most)
		}
	}
	var going []state.Entry // what runs of those that were removed
	failed = each(found, failed, whileFree(ctx, func(e state.Entry) error {
		if !s.dryRun {
			var err error
			if e, err = st.Remove(ctx, e.Task.ID, s.Clock.Now()); err != nil {
				return err
			}
		}
		removed, going = append(removed, removedTask{e.Task.ID, orNull(e.Task.Summary()), len(e.Open) > 0}), append(going, e)
		if !s.inJSON && !s.opt.Bool("quiet") {
			s.line("%s %s (%s)", deed(s, "removed"), e.Task.ID, describe(e.Task))
			if len(e.Open) > 0 && !kill {
				s.talk("note: a command of it that is running goes on")
			}
		}
		return nil
	}))
	if kill {
		limited, cancel := within(ctx, s, bound)
		defer cancel()
		ended, failed = endRuns(limited, s, st, going, failed, false)
	}
	left := unended{runs: tellEnded(s, ended), bound: bound, most: most, hint: problem.T("%s shows how it ends", problem.To("log"))}
	switch {
	case s.inJSON || s.opt.Bool("quiet") || !s.opt.Has("origin"):
	case len(removed) == 0 && len(failed) == 0:
		s.talk("No task that came of %s is pending.", s.opt.Text("origin"))
	default:
		s.talk("%s that came of %s removed.", plural(len(removed), "task"), s.opt.Text("origin"))
	}
	if most > 0 {
		left.again = goingOn(s, stopping(s, left))
	}
	if s.inJSON {
		s.emit(rmJSON{s.stamp(), removed, pickErrors(s, failed), ended, len(removed), s.dryRun, left.again})
	}
	return endTasks(ctx, s, left, failed)
}

// removedTask is a task that rm has removed.
type removedTask struct {
	ID          string  `json:"id"`
	Description *string `json:"description"`
	Running     bool    `json:"running" jsonschema:"a run of it went on when it was removed"`
}

// rmJSON is the answer of rm.
type rmJSON struct {
	Now     time.Time       `json:"now"`
	Removed []removedTask   `json:"removed"`
	Errors  []pickErrorJSON `json:"errors"`
	Stopped []*stopped      `json:"stopped" jsonschema:"by --kill"`
	Count   int             `json:"count" jsonschema:"how many were removed"`
	DryRun  bool            `json:"dry_run" jsonschema:"nothing was changed: this is what would have been done"`
	// Continue waits for the end of what --kill has told to end.
	Continue argvOrNull `json:"continue" jsonschema:"of --kill, when OURO_MAX came first: the command that waits for the end; else null"`
}

func restoreCommand() command {
	return command{
		name: "restore", args: "<id>... | --match <text>", short: "undo rm",
		long: `
Puts tasks that were removed back, with the ID and the schedule they had. A recurring task goes on with its next
instant; what fell due while it was removed is not made up for. A one-shot whose time has passed cannot be restored:
schedule it again. One that was paused comes back without its pause. Every ID is tried, as with rm; one whose --key
another task has taken meanwhile is left where it is.`,
		examples:  []string{"ouro-timer restore k7m2", "ouro-timer restore --match backup"},
		ids:       "removed",
		arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		options:   option.Rows{matchFlag(), quietFlag("print nothing but errors"), zoneFlag(), noAutostartFlag(), dryFlag(), jsonFlag()},
		answers:   []answer{{name: "restore", of: restoreJSON{}, says: "what was put back"}},
		run:       runRestore,
	}
}

func runRestore(ctx context.Context, s *session) error {
	st, err := s.open()
	if err != nil {
		return err
	}
	found, failed, err := pick(ctx, s, st, func(e state.Entry) bool { return e.Phase == state.Removed })
	if err != nil {
		return err
	}
	for _, f := range failed {
		if f.other != nil && f.other.Phase != state.Removed {
			f.Message = problem.T("task %s %s and was not removed: there is nothing to restore", f.other.Task.ID, standing(*f.other, "is"))
			f.Hint = problem.T("%s", problem.To("show", f.other.Task.ID))
			if isRunning(*f.other) {
				f.Code = problem.Failed
			}
		}
	}
	zone, err := s.zone()
	if err != nil {
		return err
	}
	restored, warnings := []taskJSON{}, []warning{}
	var back []state.Entry
	failed = each(found, failed, whileFree(ctx, func(e state.Entry) error {
		now := s.Clock.Now()
		e, err := restore(ctx, s, st, e, now)
		if err != nil {
			return err
		}
		restored, back = append(restored, asJSON(e, now)), append(back, e)
		if !s.inJSON && !s.opt.Bool("quiet") {
			s.line("%s %s (%s), due %s", deed(s, "restored"), e.Task.ID, describe(e.Task), echo(e.Due.In(taskZone(e.Task)), now.In(zone)))
		}
		return nil
	}))
	var h hands
	if len(restored) > 0 {
		h = handOver(ctx, s, st)
	}
	for _, e := range back {
		for _, w := range cannotRun(ctx, s, e.Task) {
			warnings = append(warnings, warning{w.kind, problem.T("task %s: %s", e.Task.ID, w.text)})
		}
	}
	for _, e := range back { // what is said of all alike is said once
		warnings = once(warnings, runWarnings(e, s.Clock.Now(), h)...)
		warnings = once(warnings, tellWarnings(s, e.Task, audienceOf(s, e.Task), h)...)
	}
	warnings = append(warnings, s.remote...)
	return answered(ctx, s, restoreJSON{s.stamp(), restored, pickErrors(s, failed), orNull(h.runner), warningTexts(s, warnings), s.dryRun}, len(found), "", failed, warnings)
}

// restoreJSON is the answer of restore.
type restoreJSON struct {
	Now      time.Time       `json:"now"`
	Restored []taskJSON      `json:"restored"`
	Errors   []pickErrorJSON `json:"errors"`
	Runner   *string         `json:"runner"`
	Warnings []string        `json:"warnings"`
	DryRun   bool            `json:"dry_run" jsonschema:"nothing was changed: this is what would have been done"`
}

// restore puts one removed task back. The entry is the task's also beside an error.
func restore(ctx context.Context, s *session, st state.Changes, e state.Entry, now time.Time) (state.Entry, error) {
	id := e.Task.ID
	due, err := dueAgain(e, now)
	if err != nil {
		return e, err
	}
	back, err := changes(s, st).Restore(ctx, id, due, now)
	switch {
	case errors.Is(err, state.ErrKept):
		return e, problem.New(problem.Failed, problem.T("its key %s is now that of task %s", quote(e.Task.Key), back.Task.ID),
			problem.T("%s, and then %s", problem.To("rm", back.Task.ID), problem.To("restore", id)))
	case errors.Is(err, state.ErrEnded), errors.Is(err, state.ErrNotFound): // another restore came first
		return e, problem.New(problem.Failed, problem.T("it is not removed any more"), problem.T("%s", problem.To("show", id)))
	case err != nil:
		return e, err
	}
	return back, nil
}

// dueAgain is the due instant of a removed task that is restored at now: of a recurring one the next that nothing ran for yet.
func dueAgain(e state.Entry, now time.Time) (time.Time, error) {
	if e.Due.After(now) {
		return e.Due, nil
	}
	sched, err := rules.Schedule(e.Task)
	if err != nil {
		return time.Time{}, err
	}
	if sched != nil {
		after := now
		for _, r := range e.Open { // one that was claimed a moment ahead of its instant
			if r.Due.After(after) {
				after = r.Due
			}
		}
		if due, ok := sched.Next(after); ok {
			return due, nil
		}
	}
	again := problem.T("schedule it again with %s", problem.To("at"))
	if e.Task.Type() == state.TypeWait {
		again = problem.T("begin another: %s", problem.To("wait", "5m", "TASK"))
	}
	return time.Time{}, problem.New(problem.Past, problem.T("its time has passed: %s", stamp(e.Due.In(taskZone(e.Task)))), again)
}
