package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

func rmCommand() command {
	return command{
		name: "rm", args: "<id>... | --match <text>", short: "cancel tasks",
		long: `
No further occurrence of the tasks starts; a command that is running goes on. The beginning of an ID is enough when no
other task has it. Every ID is tried: those that name no task are told on standard error, the others are removed, and
the exit code is 3. What was removed can be had back for 30 days: ouro-timer restore <id>`,
		examples: []string{"ouro-timer rm k7m2", `ouro-timer rm --match "call Bob"`},
		ids:      "live",
		flags:    []cli.Flag{matchFlag(), quietFlag("print nothing but errors"), zoneFlag(), jsonFlag()},
		run:      runRm,
	}
}

// live reports whether a task can still fire.
func live(e state.Entry) bool {
	return e.Phase == state.Pending || e.Phase == state.Running && e.Task.Recurring()
}

func runRm(ctx context.Context, s *session) error {
	st, err := s.open()
	if err != nil {
		return err
	}
	found, failed, err := s.pick(ctx, st, func(e state.Entry) bool { return live(e) || isRunning(e) && e.Phase != state.Removed })
	if err != nil {
		return err
	}
	type row struct {
		ID          string  `json:"id"`
		Description *string `json:"description"`
		Running     bool    `json:"running"`
	}
	removed := []row{}
	for i, e := range found {
		e, err := st.Remove(ctx, e.Task.ID, s.Clock.Now())
		switch {
		case errors.Is(err, state.ErrEnded), errors.Is(err, state.ErrNotFound): // it fired, or another rm came first
			failed = append(failed, *pickFailed(found[i].Task.ID, "already_ended", "task "+found[i].Task.ID+" has already ended"))
			continue
		case err != nil:
			return err
		}
		removed = append(removed, row{e.Task.ID, orNull(e.Task.Summary()), len(e.Open) > 0})
		if !s.json && !s.cli.Bool("quiet") {
			s.line("removed %s (%s)", e.Task.ID, describe(e.Task))
			if len(e.Open) > 0 {
				s.talk("note: a command of it that is running goes on")
			}
		}
	}
	if s.json {
		s.emit(struct {
			Now     time.Time   `json:"now"`
			Removed []row       `json:"removed"`
			Errors  []pickError `json:"errors"`
		}{s.stamp(), removed, orEmpty(failed)})
	}
	return s.tellPicks(failed)
}

func restoreCommand() command {
	return command{
		name: "restore", args: "<id>... | --match <text>", short: "undo rm",
		long: `
Puts tasks that were removed back, with the ID and the schedule they had. A recurring task goes on with its next
instant; what fell due while it was removed is not made up for. A one-shot whose time has passed cannot be restored:
schedule it again.`,
		examples: []string{"ouro-timer restore k7m2"},
		ids:      "removed",
		flags:    []cli.Flag{matchFlag(), quietFlag("print nothing but errors"), zoneFlag(), noAutostartFlag(), jsonFlag()},
		run:      runRestore,
	}
}

func runRestore(ctx context.Context, s *session) error {
	st, err := s.open()
	if err != nil {
		return err
	}
	found, failed, err := s.pick(ctx, st, func(e state.Entry) bool { return e.Phase == state.Removed })
	if err != nil {
		return err
	}
	zone, err := s.zone()
	if err != nil {
		return err
	}
	restored := []taskJSON{}
	for _, e := range found {
		now := s.Clock.Now()
		due, err := dueAgain(e, now)
		if err != nil {
			return err
		}
		if e, err = st.Restore(ctx, e.Task.ID, due, now); err != nil {
			return err
		}
		restored = append(restored, asJSON(e))
		if !s.json && !s.cli.Bool("quiet") {
			s.line("restored %s (%s), due %s", e.Task.ID, describe(e.Task), echo(e.Due.In(taskZone(e.Task)), now.In(zone)))
		}
	}
	var h hands
	if len(restored) > 0 {
		if h, err = s.handOver(ctx, st); err != nil {
			return err
		}
	}
	if s.json {
		s.emit(struct {
			Now      time.Time   `json:"now"`
			Restored []taskJSON  `json:"restored"`
			Errors   []pickError `json:"errors"`
			Runner   *string     `json:"runner"`
		}{s.stamp(), restored, orEmpty(failed), orNull(h.runner)})
	} else if len(restored) > 0 && h.runner == runnerNone {
		s.warn("warning: %s", h.sentence())
	}
	return s.tellPicks(failed)
}

// dueAgain is the due instant of a removed task that is restored at now.
func dueAgain(e state.Entry, now time.Time) (time.Time, error) {
	if e.Due.After(now) {
		return e.Due, nil
	}
	sched, err := runner.Schedule(e.Task)
	if err != nil {
		return time.Time{}, err
	}
	if sched != nil {
		if due, ok := sched.Next(now); ok {
			return due, nil
		}
	}
	return time.Time{}, &failure{exit: exitUsage, code: when.CodePast,
		message: "the time of task " + e.Task.ID + " has passed: " + stamp(e.Due.In(taskZone(e.Task))),
		hint:    "schedule it again with ouro-timer at"}
}

// orEmpty makes an absent list an empty one in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
