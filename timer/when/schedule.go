package when

import (
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// maxCount is how many instants may be walked to find the last one of a Count. Intervals are not
// walked.
const maxCount = 10_000

// bound sets where the recurrence starts and ends. Without a Start it begins after Now. An explicit
// Start may itself be an occurrence. The last instant is End or the Count-th occurrence, whichever
// comes first; the COUNT or UNTIL of a rule holds as well. A recurrence without an instant in its
// bounds is refused with CodeNever.
func (s *Schedule) bound(o Options) error {
	s.start, s.end = o.Start.Round(0), o.End.Round(0)
	if o.Start.IsZero() {
		s.start = o.Now.Round(0).Add(1)
	}
	if !s.end.IsZero() && s.end.Before(s.start) {
		return &fault.Error{
			Code:    fault.CodeUsage,
			Message: fmt.Sprintf("the end, %s, lies before the start, %s", toSecond(s.end.In(s.Zone)), toSecond(s.start.In(s.Zone))),
			Hint:    "give an end after the start",
		}
	}
	first, ok := s.Next(s.start.Add(-1))
	if !ok {
		message := fmt.Sprintf("%s never comes after %s", fault.Quoted(s.Text), toSecond(s.start.In(s.Zone)))
		if !s.end.IsZero() {
			message = fmt.Sprintf("%s never comes between %s and %s", fault.Quoted(s.Text), toSecond(s.start.In(s.Zone)), toSecond(s.end.In(s.Zone)))
		}
		if _, excludes := s.rule.(recur.Excluding); excludes && !o.Except.Empty() {
			return &fault.Error{Code: fault.CodeNever, Message: fault.Quoted(s.Text) + " never comes on a day that is not left out", Hint: "leave fewer days out with", Options: []string{"except"}}
		}
		return &fault.Error{Code: fault.CodeNever, Message: message, Hint: "check its day, month and year, and the start and end"}
	}
	switch {
	case o.Count < 0:
		return &fault.Error{Code: fault.CodeUsage, Message: "the count is negative", Hint: "give how many times, such as 3"}
	case o.Count > 0:
		return s.boundCount(first, o.Count)
	}
	return nil
}

// boundCount moves the end to the count-th occurrence, counted from first. When there are fewer,
// the end stays.
func (s *Schedule) boundCount(first time.Time, count int) error {
	last, ok := first, true
	base := s.rule
	if e, is := base.(recur.Ending); is {
		base = e.Rule
	}
	if r, is := base.(recur.Interval); is {
		last, ok = r.After(first, count-1)
	} else {
		if count > maxCount {
			return &fault.Error{
				Code:    fault.CodeLimit,
				Message: fmt.Sprintf("a count of %d is more than %d", count, maxCount),
				Hint:    "give an end instead",
			}
		}
		for range count - 1 {
			if last, ok = s.Next(last); !ok {
				break
			}
		}
	}
	if ok && (s.end.IsZero() || last.Before(s.end)) {
		s.end = last
	}
	return nil
}

// Next returns the first instant after t, in the zone of the schedule, or false when there is none.
// A Once has one instant. It answers within a millisecond, whatever the schedule.
func (s *Schedule) Next(t time.Time) (time.Time, bool) {
	if s.rule == nil {
		if s.At.After(t) {
			return s.At, true
		}
		return time.Time{}, false
	}
	t = t.Round(0) // wall time only: a monotonic reading would win over it in comparisons
	if !s.start.IsZero() && t.Before(s.start) {
		t = s.start.Add(-1)
	}
	next, ok := s.rule.Next(t)
	if !ok || !s.end.IsZero() && next.After(s.end) {
		return time.Time{}, false
	}
	return next.In(s.Zone), true
}

// Latest returns the last instant after after and not after until, or false when there is none. It
// halves the span until it finds it, so a year of seconds takes some thirty steps.
func (s *Schedule) Latest(after, until time.Time) (time.Time, bool) {
	last, ok := s.Next(after)
	if !ok || last.After(until) {
		return time.Time{}, false
	}
	// last is an instant, and there is none in (bar, until].
	for bar := until; ; {
		next, ok := s.Next(last)
		if !ok || next.After(bar) {
			return last, true
		}
		last = next
		middle := last.Add(bar.Sub(last) / 2)
		if next, ok = s.Next(middle); ok && !next.After(bar) {
			last = next
		} else {
			bar = middle
		}
	}
}

// Count returns how many instants lie after after and not after until, at most max. For an interval
// it computes them; for every other recurrence it walks them.
func (s *Schedule) Count(after, until time.Time, max int) int {
	if r, ok := s.rule.(recur.Interval); ok {
		after, until = after.Round(0), until.Round(0)
		if after.Before(s.start) {
			after = s.start.Add(-1)
		}
		if !s.end.IsZero() && s.end.Before(until) {
			until = s.end
		}
		if !after.Before(until) {
			return 0
		}
		return min(r.UpTo(until)-r.UpTo(after), max)
	}
	n := 0
	for n < max {
		next, ok := s.Next(after)
		if !ok || next.After(until) {
			break
		}
		after, n = next, n+1
	}
	return n
}

// Pattern returns how the instants come about. It is nil for a Once, and for a recurrence that is
// several rules.
func (s *Schedule) Pattern() *recur.Pattern {
	return recur.PatternOf(s.rule, s.start, s.end, s.Kind == RRule)
}
