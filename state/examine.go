package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// Examiner is a Store in files, which a person can mend or damage.
type Examiner interface {
	Store

	// Inspections returns what to look at. A problem found by an earlier one may hide what a later
	// one would find. They work on a store in any state.
	Inspections() []Inspection

	// PathOf is the file in which a person finds a task that is pending, running or paused.
	PathOf(e Entry) string
}

// Inspection is one part of an examination.
type Inspection struct {
	Name string
	// Look passes what it finds to tell, and changes nothing itself. tell may mend a finding before
	// it returns, and Look then sees the change. If it finds nothing, it returns a sentence that
	// says so, or an empty text.
	Look func(ctx context.Context, tell func(Finding)) (fine string)
}

// Level is how bad a finding is.
type Level string

// The levels.
const (
	Fine  Level = "ok"
	Odd   Level = "warn" // worth knowing; everything goes on by itself
	Wrong Level = "bad"  // something stands still until somebody acts
)

// Reason is what kind of thing is wrong, in one word. Each examiner defines its own.
type Reason string

// Finding is what an examination found about one thing.
type Finding struct {
	Check   string
	Level   Level
	Reason  Reason // empty when it is Fine
	Subject string // a path, a task or a setting; empty: all that the check looks at
	Text    string // what is wrong, for people
	Hint    string // what to do, if possible a command to paste; empty: nothing is to be done

	// Mend repairs what can be repaired safely, and says what it has done. It returns an error
	// instead of losing anything. It is nil if there is nothing that it could do.
	Mend func(ctx context.Context) (done string, err error)

	Done string // what Mend has done
	Left error  // why it could not
}

// Open reports whether somebody still has to do something about the finding.
func (f Finding) Open() bool { return f.Level == Wrong && f.Done == "" }

// FindingsMost is how many findings of a check are told one by one. The others are told as one
// finding, which mends them all.
const FindingsMost = 20

// Examine runs the checks in order and yields what they find. With mend, it repairs each finding,
// if that can be done, before it looks for the next one.
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

// together joins many findings of a check into one.
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
