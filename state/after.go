package state

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Unscheduled is the due instant of a task whose next instant nobody knows yet, because the task
// waits for something else: the end of another task's run (Timing.After) or a boot of the machine
// (KindBoot). When that comes, the task is moved to the instant at which it came. Unscheduled lies
// behind all other instants in lists, and before EndOfTime.
var Unscheduled = EndOfTime.Add(-24 * time.Hour)

// IsUnscheduled reports whether a due instant stands for one that nobody knows yet.
func IsUnscheduled(due time.Time) bool { return due.Equal(Unscheduled) }

// After is the end of a run of another task for which a task waits.
type After struct {
	ID string
	On string // AfterOK, AfterFailed, AfterAny
}

// Awaits are the ends that a task waits for, in order of ID.
func (t Timing) Awaits() []After {
	var list []After
	for _, id := range slices.SortedFunc(maps.Keys(t.After), CompareIDs) {
		list = append(list, After{id, t.After[id]})
	}
	return list
}

// AfterText writes the ends that a task waits for the way a user types them in place of a time:
// after k7m2 and x3p9:any.
func (t Timing) AfterText() string {
	var names []string
	for _, a := range t.Awaits() {
		names = append(names, a.String())
	}
	return "after " + strings.Join(names, " and ")
}

// What After.On says.
const (
	AfterOK     = "ok"
	AfterFailed = "failed" // the run ended as failed, timeout or interrupted
	AfterAny    = "any"
)

// Fits reports whether a run with this outcome is the end that the task waits for. An occurrence
// that was not run is neither a success nor a failure.
func (a After) Fits(o Outcome) bool {
	switch a.On {
	case AfterAny:
		return true
	case AfterFailed:
		return o.Ran() && o != OK
	}
	return o == OK
}

// String writes the end as a user types it: k7m2, k7m2:failed, k7m2:any.
func (a After) String() string {
	if a.On == AfterOK {
		return a.ID
	}
	return a.ID + ":" + a.On
}

// Forgo ends a task whose wait for another task can no longer be met. The line is its outcome.
func Forgo(line Line, now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		d, moved, err := Move(Unscheduled, now, now)(d)
		if err != nil {
			return d, nil, err
		}
		d, skipped, err := Skip(d.Due, time.Time{}, line)(d)
		return d, append(moved, skipped...), err
	}
}
