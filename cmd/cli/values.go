package cli

import (
	"strconv"
	"time"
)

// Deref is a text of JSON that may be null: empty when it is.
func Deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// OrNull returns nil for an empty value, which is null in JSON.
func OrNull[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return new(value) // &value would make a copy for an empty value, too
}

// ArgvOrNull is a list of words, such as a command, which is null in JSON when it has none.
type ArgvOrNull []string

// Absent marks a list that may be null in JSON.
func (ArgvOrNull) Absent() {}

// Instant returns an instant in a zone, or nil for the zero instant, which is null in JSON.
func Instant(t time.Time, zone *time.Location) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.In(zone).Round(0))
}

// OrEmpty returns an empty list for nil, which is [] in JSON.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// SpanText writes the duration of a default, in days or seconds.
func SpanText(d time.Duration) string {
	if day := 24 * time.Hour; d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}
