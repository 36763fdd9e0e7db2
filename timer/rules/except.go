package rules

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// dayFile is how an exception begins that names a file of days.
const dayFile = "file:"

// DayFile returns the path that an exception names. It reports false for one that names days.
func DayFile(exception string) (path string, ok bool) { return strings.CutPrefix(exception, dayFile) }

// InFile returns the exception that names a file of days.
func InFile(path string) string { return dayFile + path }

// DayFiles returns the paths of the files of days that a task names.
func DayFiles(t state.Timing) (paths []string) {
	for _, exception := range t.Except {
		if path, ok := DayFile(exception); ok {
			paths = append(paths, path)
		}
	}
	return paths
}

// DayFileError says why the days of a file cannot be read.
type DayFileError struct {
	Path string
	Err  error // a *fault.Error when a line is not understood
}

func (e *DayFileError) Error() string { return e.Path + " cannot be read: " + e.Err.Error() }
func (e *DayFileError) Unwrap() error { return e.Err }

// ErrNoDays is the error of a file without days.
var ErrNoDays = errors.New("it has no days")

// ReadDayFile reads a file of days, whose content text returns. The error is a *DayFileError.
func ReadDayFile(path string, text func(path string) (string, error), o when.Options) (*recur.Days, []string, error) {
	content, err := text(path)
	if err != nil {
		return nil, nil, &DayFileError{path, err}
	}
	days, lines, err := when.ReadDays(content, o)
	if err == nil && len(lines) == 0 {
		err = ErrNoDays
	}
	if err != nil {
		return nil, nil, &DayFileError{path, err}
	}
	return days, lines, nil
}

// Reread reads the files of days of a task again. It returns the timing with their present days,
// its schedule, and whether the days have changed. The schedule is nil when nothing is left of a
// recurrence that has an end. When a file cannot be read, or leaves nothing of a recurrence without
// an end, the days stay as they were.
func Reread(t state.Timing, text func(path string) (string, error)) (now state.Timing, sched *when.Schedule, changed bool, err error) {
	var lines []string
	for _, path := range DayFiles(t) {
		_, more, err := ReadDayFile(path, text, when.Options{Now: t.Start, Zone: time.UTC})
		if err != nil {
			return t, nil, false, err
		}
		lines = append(lines, more...)
	}
	if slices.Equal(lines, t.ExceptDays) {
		return t, nil, false, nil
	}
	now = t
	now.ExceptDays = lines
	sched, err = Recurrence(now)
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code == fault.CodeNever && (!t.End.IsZero() || t.Count > 0) {
		err = nil
	}
	if err != nil {
		return t, nil, false, err
	}
	return now, sched, true, nil
}

// Excepted returns the days that are left out of a task. For a file, they are those that were last
// read. They do not depend on o.Now (when.ParseDays), and are cached by their texts alone.
func Excepted(t state.Timing, o when.Options) (*recur.Days, error) {
	if len(t.Except) == 0 {
		return nil, nil
	}
	key := strings.Join(t.Except, "\x00") + "\x01" + strings.Join(t.ExceptDays, "\x00")
	excepted.Lock()
	defer excepted.Unlock()
	if days, ok := excepted.known[key]; ok {
		return days, nil
	}
	var all *recur.Days
	for _, text := range t.Except {
		if _, ok := DayFile(text); ok {
			continue
		}
		days, err := when.ParseDays(text, o)
		if err != nil {
			return nil, err
		}
		all = all.And(days)
	}
	days, _, err := when.ReadDays(strings.Join(t.ExceptDays, "\n"), o)
	if err != nil {
		return nil, err
	}
	if all = all.And(days); excepted.known == nil || len(excepted.known) == maxExcepted {
		excepted.known = map[string]*recur.Days{}
	}
	excepted.known[key] = all
	return all, nil
}

// maxExcepted is how many lists of days are cached.
const maxExcepted = 256

// excepted caches lists of days: thousands of tasks may leave out the same.
var excepted struct {
	sync.Mutex
	known map[string]*recur.Days
}
