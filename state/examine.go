package state

import (
	"context"
	"iter"
)

// Examiner is a Store that is kept where a person can reach it, and mend or damage it.
type Examiner interface {
	Store

	// Examine looks at everything there is, and changes nothing. It works on a store in any state.
	// Each check has at least one finding. A finding can be mended before the next one is asked
	// for, which then sees the difference.
	Examine(ctx context.Context) iter.Seq[Finding]

	// PathOf is where a person finds a task that is pending, running or paused.
	PathOf(e Entry) string
}

// Level is how bad a finding is.
type Level string

// The levels.
const (
	Fine  Level = "ok"
	Odd   Level = "warn" // worth knowing; all goes on without anybody doing anything
	Wrong Level = "bad"  // something does not go on until somebody does something
)

// Finding is what an examination found about one thing.
type Finding struct {
	Name  string // of the check
	Level Level
	Text  string
	Hint  string // what to do, as a command to paste where there is one; empty when nothing is to be done

	// Mend does what is safe, and says what it has done. What it cannot do without losing anything
	// is an error. Nil: there is nothing that it could do.
	Mend func(ctx context.Context) (done string, err error)
}
