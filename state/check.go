package state

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

// TaskLimit is the most bytes of a task. Larger text belongs into a file of the user.
const TaskLimit = 1 << 20

// NameLimit is the most bytes of the name of an environment variable. Together with its tables,
// such a name is a key that package codec accepts.
const NameLimit = 900

// Check refuses, with ErrInvalid, a task that no store can keep: without a schedule, with text that
// is not UTF-8 or longer than TaskLimit, or with an instant outside the years 1 to 9999, its due
// instant included. The error says which part is wrong.
func Check(t Task, due time.Time) error {
	size := 0
	if at, why := checkValue(reflect.ValueOf(t), &size); why != "" {
		return fmt.Errorf("%w: %s%s", ErrInvalid, strings.TrimPrefix(at, "."), why)
	}
	if err := CheckSize(size); err != nil {
		return err
	}
	if !t.When.Complete() {
		return fmt.Errorf("%w: when.text or when.kind is missing", ErrInvalid)
	}
	if t.Origin != "" && !WholeID(t.Origin) {
		return fmt.Errorf("%w: the origin %q is not a task's ID", ErrInvalid, t.Origin)
	}
	return CheckDue(due)
}

// CheckSize refuses a task of more than TaskLimit bytes.
func CheckSize(bytes int) error {
	if bytes > TaskLimit {
		return fmt.Errorf("%w: the task takes %d bytes and at most %d are kept; put its text into a file and name that", ErrInvalid, bytes, TaskLimit)
	}
	return nil
}

// CheckDue refuses a due instant outside the years 1 to 9999, UTC.
func CheckDue(due time.Time) error {
	if why := wrongYear(due); why != "" {
		return fmt.Errorf("%w: the due instant%s", ErrInvalid, why)
	}
	return nil
}

// CheckNext refuses a step that does not go forward from due to next. A zero next is the end of the
// task.
func CheckNext(due, next time.Time) error {
	if err := CheckDue(due); err != nil || next.IsZero() {
		return err
	}
	if !next.After(due) {
		return fmt.Errorf("%w: the next due instant %s is not after %s", ErrInvalid, next.Format(time.RFC3339), due.Format(time.RFC3339))
	}
	return CheckDue(next)
}

// CheckFree refuses, with ErrTaken, a due instant that is not after all instants that have been
// claimed or have ended, because those cannot come again.
func CheckFree(due time.Time, taken ...time.Time) error {
	for _, t := range taken {
		if !due.After(t) {
			return fmt.Errorf("%w: its occurrence of %s", ErrTaken, t.Format(time.RFC3339))
		}
	}
	return nil
}

// CheckSkip refuses an outcome that only a started run can have.
func CheckSkip(o Outcome) error {
	if o == "" || o.Ran() {
		return fmt.Errorf("%w: %q is not an outcome of what was not started", ErrInvalid, o)
	}
	return nil
}

// wrongYear says what is wrong with the year of an instant. It is empty if the year is right.
func wrongYear(t time.Time) string {
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return fmt.Sprintf(": the year %d is not between 1 and 9999", y)
	}
	return ""
}

// checkValue checks every text and instant in v, and adds the size of the texts. It returns the key
// of the first wrong one and the reason; why is empty if all are right.
func checkValue(v reflect.Value, size *int) (at, why string) {
	check := func(s string) string {
		*size += len(s)
		if !utf8.ValidString(s) {
			return " is not valid UTF-8"
		}
		return ""
	}
	if v.IsZero() { // most of a task
		return "", ""
	}
	switch v.Kind() {
	case reflect.String:
		return "", check(v.String())
	case reflect.Slice:
		for i := range v.Len() {
			if at, why := checkValue(v.Index(i), size); why != "" {
				return fmt.Sprintf("[%d]%s", i, at), why
			}
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if why := check(entry.Key().String()); why != "" {
				return "", why
			}
			if n := entry.Key().Len(); n > NameLimit {
				return "", fmt.Sprintf(" has a name of %d bytes, and at most %d are kept", n, NameLimit)
			}
			if at, why := checkValue(entry.Value(), size); why != "" {
				return "." + entry.Key().String() + at, why
			}
		}
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			return "", wrongYear(t)
		}
		for i := range v.NumField() {
			if at, why := checkValue(v.Field(i), size); why != "" {
				name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("toml"), ",")
				return "." + name + at, why
			}
		}
	}
	return "", ""
}
