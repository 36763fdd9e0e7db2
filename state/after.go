package state

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Unscheduled is the due instant of a task that is due at no instant that is known yet, because it waits for something else: for the end of
// another task's run (Timing.After), or for a boot of the machine (KindBoot). When that has come it is moved to the instant at which it did. It lies behind all others in lists, and
// before EndOfTime.
var Unscheduled = EndOfTime.Add(-24 * time.Hour)

// IsUnscheduled reports whether a due instant is none that is known.
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

// AfterText is how the ends that a task waits for are said in the place of a time: after k7m2 and x3p9:any.
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
	AfterFailed = "failed" // it ended otherwise: failed, timeout, interrupted
	AfterAny    = "any"
)

// Fits reports whether a run that ended so is what is waited for. What was not run is no success and no failure.
func (a After) Fits(o Outcome) bool {
	switch a.On {
	case AfterAny:
		return true
	case AfterFailed:
		return o.Ran() && o != OK
	}
	return o == OK
}

// String is the end as it is typed: k7m2, k7m2:failed, k7m2:any.
func (a After) String() string {
	if a.On == AfterOK {
		return a.ID
	}
	return a.ID + ":" + a.On
}

// Forgo ends a task that waits for another, at now, as the line says: what it waits for does not come.
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
