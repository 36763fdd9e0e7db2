package rules

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// dayFile is what an exception begins with that names a file of days.
const dayFile = "file:"

// DayFile is the path that an exception names; not ok when it names days.
func DayFile(exception string) (path string, ok bool) { return strings.CutPrefix(exception, dayFile) }

// InFile is the exception that names a file of days.
func InFile(path string) string { return dayFile + path }

// DayFiles are the paths of the files of days that a task names.
func DayFiles(t state.Timing) (paths []string) {
	for _, exception := range t.Except {
		if path, ok := DayFile(exception); ok {
			paths = append(paths, path)
		}
	}
	return paths
}

// DayFileError says why the days of a file cannot be had.
type DayFileError struct {
	Path string
	Err  error // a *when.Error where a line is not understood
}

func (e *DayFileError) Error() string { return e.Path + " cannot be read: " + e.Err.Error() }
func (e *DayFileError) Unwrap() error { return e.Err }

// ErrNoDays is of a file that has no days.
var ErrNoDays = errors.New("it has no days")

// ReadDayFile reads a file of days, with what returns its text. The error is a *DayFileError.
func ReadDayFile(path string, text func(path string) (string, error), o when.Options) (*when.Days, []string, error) {
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

// Reread is a task's timing with the days that its files have now, its schedule by them, and
// whether they are others than it has. The schedule is nil when nothing of a recurrence that has an
// end is left. When one of the files cannot be read, or leaves nothing of a recurrence without an
// end, the days stay those that were last read.
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
	if e := (*when.Error)(nil); errors.As(err, &e) && e.Code == when.CodeNever && (!t.End.IsZero() || t.Count > 0) {
		err = nil
	}
	if err != nil {
		return t, nil, false, err
	}
	return now, sched, true, nil
}

// Excepted are the days that are left out of a task; of those in files the ones that were last
// read.
func Excepted(t state.Timing, o when.Options) (*when.Days, error) {
	if len(t.Except) == 0 {
		return nil, nil
	}
	key := strings.Join(t.Except, "\x00") + "\x01" + strings.Join(t.ExceptDays, "\x00")
	excepted.Lock()
	defer excepted.Unlock()
	if days, ok := excepted.known[key]; ok {
		return days, nil
	}
	var all *when.Days
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
	if all = all.And(days); excepted.known == nil || len(excepted.known) == exceptedMost {
		excepted.known = map[string]*when.Days{}
	}
	excepted.known[key] = all
	return all, nil
}

// exceptedMost bounds the lists of days that are remembered.
const exceptedMost = 256

// excepted are the lists of days that were read: thousands of tasks may leave out the same.
var excepted struct {
	sync.Mutex
	known map[string]*when.Days
}
