package state

import (
	"errors"
	"strings"
)

// Store keeps tasks, claims and the ledger for every process of one user. All methods may be called
// from any goroutine and any process at once. Each is atomic: it happens whole or not at all, also
// if its process is killed or the machine loses power. A method that has returned nil has made its
// effect durable. Reading methods change nothing.
//
// A task or other piece of state that cannot be read is left out of lists and reported as a
// Problem. No other task suffers.
//
// A function that needs only a part of a Store takes that part.
type Store interface {
	Tasks
	TaskWriter
	Occurrences
	Claims
	Ledger
	Outputs
	Mail
	Presence
	Leases
	Upkeep
}

// Problem is a piece of state that could not be read, and what was done about it.
type Problem struct {
	Path string
	Err  error
	Hint string
}

func (p Problem) Error() string {
	text := p.Err.Error()
	if strings.Contains(text, p.Path) {
		return text
	}
	return p.Path + ": " + text
}

func (p Problem) Unwrap() error { return p.Err }

// The errors by which a caller may decide what to do.
var (
	ErrNotFound = errors.New("no such task")
	ErrEnded    = errors.New("already ended")
	ErrTaken    = errors.New("taken by another runner")
	ErrKept     = errors.New("a task with this key exists")
	ErrConflict = errors.New("changed in the meantime")
	ErrLed      = errors.New("another runner holds the lock")
	// ErrBusy says that the state lock could not be taken in time.
	ErrBusy = errors.New("the state is busy")
	// ErrUnusable says that the owner or the permissions are wrong, or that nothing can be written.
	ErrUnusable = errors.New("the state cannot be used")
	ErrNewer    = errors.New("written by a newer version") // the file stays untouched
	// ErrInvalid says that text is not UTF-8, something is too large, or an instant is out of
	// range.
	ErrInvalid = errors.New("cannot be kept")
)

// A Problem with one of these errors means that nothing is missing.
var (
	// ErrTorn says that the last line of the ledger was written in part. No caller was told that it
	// was kept.
	ErrTorn = errors.New("its last line was cut short")
	// ErrCopy says that there is an older file of a task beside a newer one, after a crash or a
	// copy by hand. The newer one counts.
	ErrCopy = errors.New("is an older copy of a task that has another file")
)
