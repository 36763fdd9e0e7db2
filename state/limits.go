package state

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Limits are what a store refuses to go beyond. A zero is no limit.
type Limits struct {
	Tasks   int // tasks that wait, in the queue and paused, of everybody
	Pending int // those of them that have one origin
	PerHour int // tasks of one origin that are made within an hour, and changes that have it run anew

	File string // that sets them, for who reads of a refusal
}

// LineageMost is the highest limit there can be of what has one origin. It bounds what stores remember of it.
const LineageMost = 1000

// lineageHour is the span that Limits.PerHour is of.
const lineageHour = time.Hour

// LimitError is the refusal of a change that would go beyond a limit. It is ErrLimit.
type LimitError struct {
	Setting    string    // the key of config.toml that sets the limit
	Have, Most int       // how many there are, and may be
	Origin     string    // whose they are; empty: everybody's
	File       string    // that sets the limit
	Again      time.Time // when there is room again without anybody's doing; zero: that cannot be told
}

// ErrLimit is a change that would go beyond a limit; the error is a *LimitError.
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

// CheckTasks refuses one more task beside those that wait.
func (l Limits) CheckTasks(have int) error {
	if l.Tasks > 0 && have >= l.Tasks {
		return &LimitError{Setting: SettingTasks, Have: have, Most: l.Tasks, File: l.File}
	}
	return nil
}

// CheckPending refuses one more task of an origin beside those of it that wait.
func (l Limits) CheckPending(origin string, have int) error {
	if l.Pending > 0 && have >= l.Pending {
		return &LimitError{Setting: SettingPending, Have: have, Most: l.Pending, Origin: origin, File: l.File}
	}
	return nil
}

// CheckHour refuses one more creation of an origin at now, which has made others at those instants. Recent says which of them still
// count.
func (l Limits) CheckHour(origin string, made []time.Time, now time.Time) error {
	made = Recent(made, now)
	if l.PerHour <= 0 || len(made) < l.PerHour {
		return nil
	}
	return &LimitError{Setting: SettingPerHour, Have: len(made), Most: l.PerHour, Origin: origin, File: l.File, Again: made[len(made)-l.PerHour].Add(lineageHour)}
}

// Recent are those of the instants that count for Limits.PerHour at now, in order: of the hour before, and not of a clock that was put
// back by hours since.
func Recent(made []time.Time, now time.Time) []time.Time {
	list := slices.DeleteFunc(slices.Clone(made), func(t time.Time) bool {
		return !t.After(now.Add(-lineageHour)) || t.After(now.Add(lineageHour))
	})
	slices.SortFunc(list, time.Time.Compare)
	return list
}
