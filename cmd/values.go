package cmd

import "time"

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// endOfTime is after every instant a task can be due at.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// orElse is text, or other when there is none.
func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// orNull makes an absent text null in JSON.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	shown := text // a copy takes memory here only, and not for what is absent
	return &shown
}

// argvOrNull are words of a command, or of a list, that are null in JSON where there are none.
type argvOrNull []string

// Absent marks the list as one that may be null.
func (argvOrNull) Absent() {}

// instant makes an absent instant null in JSON, and shows the others in the zone.
func instant(t time.Time, zone *time.Location) *time.Time {
	if t.IsZero() {
		return nil
	}
	shown := t.In(zone).Round(0)
	return &shown
}

// orEmpty makes an absent list an empty one in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func pidOrNull(pid int) *int {
	if pid == 0 {
		return nil
	}
	return &pid
}
