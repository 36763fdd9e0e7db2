package state

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Ledger says what has happened, line by line.
type Ledger interface {
	// Log calls yield with the lines of the ledger, newest first, until it returns false, and says
	// where the ledger ended: After goes on from there. An empty task ID means all. It reads no
	// further back than yield wants. It has the text of a task once: Line.Lacks. Lines that cannot
	// be read are left out and reported.
	Log(ctx context.Context, taskID string, yield func(Line) bool) (end Place, problems []Problem, err error)

	// Occurrence is Log of the lines about one occurrence, or run by hand, of a task. It may do
	// without reading the others, which may be a million: known says that there is one.
	Occurrence(ctx context.Context, taskID string, number int, yield func(Line) bool) (end Place, known bool, problems []Problem, err error)

	// After calls yield with the lines that come after a place, of a task or, when the ID is empty,
	// of all, oldest first, until it returns false, and returns the place after the last one it has
	// looked at. It reads nothing before the place. A place that is not in the ledger any more is
	// reported, and lines are told from the oldest there is; one beyond its end is the end. A last
	// line that was cut short is left out: Log reports it (ErrTorn).
	After(ctx context.Context, taskID string, from Place, yield func(Line) bool) (end Place, problems []Problem, err error)

	// Spell puts the text of their tasks into lines of the ledger that lack it. What is not kept
	// any more is left out.
	Spell(ctx context.Context, lines []Line) error

	// Gone is what Prune has dropped of the ledger; some reports whether its beginning is not
	// there, which may have been dropped by a version that did not count.
	Gone(ctx context.Context) (g Gone, some bool, err error)

	// WatchLog returns a channel that receives after lines were added to the ledger and, of the
	// task that is named, after claims of it came or went and its runs wrote: soon, and at least
	// once after the last change, until ctx ends. The watch is in place before WatchLog returns.
	// Where there is no way to tell, it ticks.
	WatchLog(ctx context.Context, taskID string) (<-chan struct{}, error)
}

// Place is where a line of the ledger ends. It stays where it is, whatever becomes of the lines
// before it. A store numbers the parts of its ledger, and what is in each, as it likes. The zero
// value is before everything.
type Place struct {
	Part   int // 1 is the first
	Offset int64
}

func (p Place) String() string { return fmt.Sprintf("%d.%d", p.Part, p.Offset) }

// ParsePlace reads what String has written.
func ParsePlace(text string) (Place, error) {
	part, offset, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(part)
	at, also := strconv.ParseInt(offset, 10, 64)
	p := Place{n, at}
	if err != nil || also != nil || n < 0 || at < 0 || p.String() != text {
		return Place{}, fmt.Errorf("%q is no place in the ledger", text)
	}
	return p, nil
}
