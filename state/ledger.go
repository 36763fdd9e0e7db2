package state

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Ledger reads what has happened, line by line.
type Ledger interface {
	// Log calls yield with the lines of the ledger, newest first, until yield returns false, and
	// returns where the ledger ended. After can go on from there. An empty task ID means all tasks.
	// Log reads no further back than yield asks for. The text of a task is in one line only
	// (Line.Lacks). Lines that cannot be read are left out and reported.
	Log(ctx context.Context, taskID string, yield func(Line) bool) (end Place, problems []Problem, err error)

	// Occurrence is Log for the lines about one occurrence, or one run by hand, of a task. It need
	// not read the other lines, which may be a million. known says that there are lines about the
	// task.
	Occurrence(ctx context.Context, taskID string, number int, yield func(Line) bool) (end Place, known bool, problems []Problem, err error)

	// After calls yield with the lines that follow a place, oldest first, until yield returns
	// false. It returns the place after the last line that it read, and reads nothing before from.
	// An empty task ID means all tasks.
	//
	// If the ledger no longer has the place, After reports that and starts with the oldest line. A
	// place behind the end is the end. A last line that was cut short is left out; Log reports it
	// (ErrTorn).
	After(ctx context.Context, taskID string, from Place, yield func(Line) bool) (end Place, problems []Problem, err error)

	// Spell adds the text of their tasks to lines of the ledger that lack it. Text that is no
	// longer kept stays missing.
	Spell(ctx context.Context, lines []Line) error

	// Gone counts what Prune has dropped of the ledger. some reports whether the ledger's beginning
	// is missing; a version that did not count may have dropped it.
	Gone(ctx context.Context) (g Gone, some bool, err error)

	// WatchLog returns a channel that receives after lines were added to the ledger. If a task is
	// named, it also receives after a claim of the task came or went and after its runs wrote
	// something. It receives soon, and at least once after the last change, until ctx ends. The
	// watch is in place before WatchLog returns. On systems that cannot tell of changes, the
	// channel ticks.
	WatchLog(ctx context.Context, taskID string) (<-chan struct{}, error)
}

// Place is where a line of the ledger ends. It stays valid when earlier lines are dropped. Each
// store numbers the parts of its ledger, and their contents, in its own way. The zero value is
// before everything.
type Place struct {
	Part   int // 1 is the first
	Offset int64
}

func (p Place) String() string { return fmt.Sprintf("%d.%d", p.Part, p.Offset) }

// After reports whether p is after another place.
func (p Place) After(o Place) bool {
	return p.Part > o.Part || p.Part == o.Part && p.Offset > o.Offset
}

// ParsePlace reads a text that String has written.
func ParsePlace(text string) (Place, error) {
	part, offset, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(part)
	at, also := strconv.ParseInt(offset, 10, 64)
	p := Place{n, at}
	if err != nil || also != nil || n < 0 || at < 0 || p.String() != text {
		return Place{}, fmt.Errorf("%q is not a place in the ledger", text)
	}
	return p, nil
}
