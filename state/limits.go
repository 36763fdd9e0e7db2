package state

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Limits are how much a store accepts. Zero means no limit.
type Limits struct {
	Tasks   int // all tasks that wait, in the queue or paused
	Leaving int // how many of them are removed after this change, and do not count for Tasks
	Pending int // those of them with one origin
	PerHour int // tasks of one origin made within an hour, and changes that make a task run again

	File string // the file that sets them, for the reader of a refusal

	// Planned has the tasks that a dry run would have made by now. They count for each limit, as if
	// they were there.
	Planned Planned
}

// Planned has, by their origins, when those tasks are made that a dry run would have added by now.
type Planned map[string][]time.Time

// LineageMost is the highest limit for one origin that can be set. It bounds what stores have to
// remember of an origin.
const LineageMost = 1000

// lineageHour is the span of Limits.PerHour.
const lineageHour = time.Hour

// LimitError refuses a change that would go beyond a limit. It is ErrLimit.
type LimitError struct {
	Setting    string    // the key of config.toml that sets the limit
	Have, Most int       // how many there are, and may be
	Origin     string    // whose tasks they are; empty: everybody's
	File       string    // that sets the limit
	Again      time.Time // when there is room again by itself; zero: not known
}

// ErrLimit is a change beyond a limit. The error is a *LimitError.
var ErrLimit = errors.New("beyond a limit")

// The keys of config.toml that set Limits.
const (
	SettingTasks   = "limits.max_tasks"
	SettingPending = "lineage.pending"
	SettingPerHour = "lineage.per_hour"
)

func (e *LimitError) Error() string {
	switch e.Setting {
	case SettingPerHour:
		return fmt.Sprintf("what came of task %s has made %d tasks within an hour, and the most is %d", e.Origin, e.Have, e.Most)
	case SettingPending:
		return fmt.Sprintf("%d tasks that came of task %s are waiting, and the most is %d", e.Have, e.Origin, e.Most)
	}
	return fmt.Sprintf("%d tasks are waiting, and the most is %d", e.Have, e.Most)
}

func (e *LimitError) Unwrap() error { return ErrLimit }

// CheckPending refuses another task of an origin if have tasks of it that wait are the most.
func (l Limits) CheckPending(origin string, have int) error {
	if have += len(l.Planned[origin]); l.Pending > 0 && have >= l.Pending {
		return &LimitError{Setting: SettingPending, Have: have, Most: l.Pending, Origin: origin, File: l.File}
	}
	return nil
}

// CheckHour refuses another task of an origin at now. made are the instants at which the origin
// made others; Recent says which still count.
func (l Limits) CheckHour(origin string, made []time.Time, now time.Time) error {
	made = Recent(slices.Concat(made, l.Planned[origin]), now)
	if l.PerHour <= 0 || len(made) < l.PerHour {
		return nil
	}
	return &LimitError{Setting: SettingPerHour, Have: len(made), Most: l.PerHour, Origin: origin, File: l.File, Again: made[len(made)-l.PerHour].Add(lineageHour)}
}

// Recent returns the instants that count for Limits.PerHour at now, in order: those of the hour
// before. An instant in the future does not count, because the clock was put back by hours since.
func Recent(made []time.Time, now time.Time) []time.Time {
	list := slices.DeleteFunc(slices.Clone(made), func(t time.Time) bool {
		return !t.After(now.Add(-lineageHour)) || t.After(now.Add(lineageHour))
	})
	slices.SortFunc(list, time.Time.Compare)
	return list
}

// Census counts what Limits bound.
type Census interface {
	// Waiting returns how many tasks wait.
	Waiting() (int, error)
	// Pending returns how many tasks of an origin wait.
	Pending(origin string) (int, error)
	// Made returns when an origin made tasks within the last hour, and perhaps earlier.
	Made(origin string) ([]time.Time, error)
}

// Admit refuses, with a *LimitError, a change after which there would be more than the limits
// allow: a task that is made (before is nil), restored, or given another origin. A wait that is not
// part of a run is never refused, because it runs nothing.
func (l Limits) Admit(before *Doc, after Doc, c Census, now time.Time) error {
	made, restored := before == nil, before != nil && before.Phase == Removed && after.Waits()
	adopted := before != nil && before.Task.Origin != after.Task.Origin && after.Waits()
	origin := after.Task.Origin
	switch {
	case !made && !restored && !adopted, after.Task.Type() == TypeWait && origin == "":
		return nil
	}
	if l.Tasks > 0 && !adopted {
		n, err := c.Waiting()
		if err != nil {
			return err
		}
		for _, made := range l.Planned {
			n += len(made)
		}
		if n -= l.Leaving; n >= l.Tasks {
			return &LimitError{Setting: SettingTasks, Have: n, Most: l.Tasks, File: l.File}
		}
	}
	if l.Pending > 0 && origin != "" {
		n, err := c.Pending(origin)
		if err != nil {
			return err
		}
		if err := l.CheckPending(origin, n); err != nil {
			return err
		}
	}
	if l.PerHour <= 0 || origin == "" || !made {
		return nil
	}
	at, err := c.Made(origin)
	if err != nil {
		return err
	}
	return l.CheckHour(origin, at, now)
}
