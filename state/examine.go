package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// Examiner is a Store that is kept where a person can reach it, and mend or damage it.
type Examiner interface {
	Store

	// Inspections are what there is to look at, in the order in which one may hide the next. They
	// work on a store in any state.
	Inspections() []Inspection

	// PathOf is where a person finds a task that is pending, running or paused.
	PathOf(e Entry) string
}

// Inspection is one thing that an examination looks at.
type Inspection struct {
	Name string
	// Look tells what it has found, and changes nothing. What it has told may be mended before tell
	// returns: it then sees the difference. It returns what there is to say when it has told
	// nothing; empty for nothing.
	Look func(ctx context.Context, tell func(Finding)) (fine string)
}

// Level is how bad a finding is.
type Level string

// The levels.
const (
	Fine  Level = "ok"
	Odd   Level = "warn" // worth knowing; all goes on without anybody doing anything
	Wrong Level = "bad"  // something does not go on until somebody does something
)

// Reason is what kind of thing is wrong, in one word. Which there are, who looks says.
type Reason string

// Finding is what an examination found about one thing.
type Finding struct {
	Check   string
	Level   Level
	Reason  Reason // empty when it is Fine
	Subject string // what it is about: a path, a task, a setting; empty for all that the check looks at
	Text    string // what is wrong, for people
	Hint    string // what to do, as a command to paste where there is one; empty when nothing is to be done

	// Mend does what is safe, and says what it has done. What it cannot do without losing anything
	// is an error. Nil: there is nothing that it could do.
	Mend func(ctx context.Context) (done string, err error)

	Done string // what Mend has done
	Left error  // why it could not
}

// Open reports whether something is still to be done about it.
func (f Finding) Open() bool { return f.Level == Wrong && f.Done == "" }

// FindingsMost is how many findings of a check are told one by one. The rest is told as one, which
// mends them all.
const FindingsMost = 20

// Examine yields what the checks find, one check after the other. With mend, what can be mended is,
// before the next finding is looked for.
func Examine(ctx context.Context, checks []Inspection, mend bool, yield func(Finding)) {
	for _, c := range checks {
		told := 0
		var rest []Finding
		tell := func(f Finding) {
			f.Check = c.Name
			if mend && f.Mend != nil {
				f.Done, f.Left = f.Mend(ctx)
			}
			told++
			yield(f)
		}
		fine := c.Look(ctx, func(f Finding) {
			if told < FindingsMost {
				tell(f)
			} else {
				rest = append(rest, f)
			}
		})
		switch {
		case ctx.Err() != nil:
			return
		case len(rest) == 1:
			tell(rest[0])
		case len(rest) > 1:
			tell(together(rest))
		case told == 0 && fine != "":
			tell(Finding{Level: Fine, Text: fine})
		}
	}
}

// together is many findings of a check as one.
func together(list []Finding) Finding {
	all := Finding{Level: Odd, Reason: "more", Text: fmt.Sprintf("%d more like these", len(list)), Hint: "mend those first, and call doctor again"}
	for _, f := range list {
		if f.Level == Wrong {
			all.Level = Wrong
		}
		if f.Mend != nil {
			all.Mend = func(ctx context.Context) (string, error) { return mendAll(ctx, list) }
		}
	}
	return all
}

func mendAll(ctx context.Context, list []Finding) (done string, err error) {
	mended := 0
	for _, f := range list {
		if f.Mend == nil {
			continue
		}
		if _, bad := f.Mend(ctx); bad != nil {
			err = cmp.Or(err, bad)
			continue
		}
		mended++
	}
	if left := len(list) - mended; left > 0 {
		return "", fmt.Errorf("%d were mended, %d were not: %w", mended, left, cmp.Or(err, errors.New("they need you")))
	}
	return fmt.Sprintf("mended %d", mended), nil
}
