package cli

import (
	"strconv"
	"time"
)

// OrElse is text, or other when there is none.
func OrElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func Deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// OrNull makes an absent text null in JSON.
func OrNull(text string) *string {
	if text == "" {
		return nil
	}
	shown := text // a copy takes memory here only, and not for what is absent
	return &shown
}

// ArgvOrNull are words of a command, or of a list, that are null in JSON where there are none.
type ArgvOrNull []string

// Absent marks the list as one that may be null.
func (ArgvOrNull) Absent() {}

// Instant makes an absent instant null in JSON, and shows the others in the zone.
func Instant(t time.Time, zone *time.Location) *time.Time {
	if t.IsZero() {
		return nil
	}
	shown := t.In(zone).Round(0)
	return &shown
}

// OrEmpty makes an absent list an empty one in JSON.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func PidOrNull(pid int) *int {
	if pid == 0 {
		return nil
	}
	return &pid
}

// SpanText writes a default that is a length of time, in days or seconds.
func SpanText(d time.Duration) string {
	if day := 24 * time.Hour; d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}
