package files

import (
	"errors"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// tally is a task's tally as it stands in its file.
type tally struct {
	state.Tally
	Line string `toml:"line"` // sumOf the ledger line that was counted last
}

func tallyPlace(id string) string { return tallyDir + "/" + id + suffix }

// tallyLimit bounds what is read of a tally.
const tallyLimit = 1 << 16

// counts reports whether a line changes its task's tally.
func counts(l state.Line) bool { return l.Counts() && state.WholeID(l.TaskID) }

// readTally reads a task's tally; the zero tally when none of its occurrences has ended. One that is damaged is made again
// from the whole ledger, which is slow and rare.
func (s *Store) readTally(id string) (tally, error) {
	var t tally
	data, err := readFile(s.path(tallyPlace(id)), tallyLimit)
	if missing(err) {
		return t, nil
	}
	if err == nil {
		if _, err = decode(data, &t); err == nil {
			t.LastDue, t.LastEnd = state.UTC(t.LastDue), state.UTC(t.LastEnd)
			t.First, t.Again = state.UTC(t.First), state.UTC(t.Again)
			return t, nil
		}
	}
	if errors.Is(err, errDecode) || errors.Is(err, errOdd) {
		return s.recount(id)
	}
	return t, fail("reading the tally of "+id, err)
}

// recount makes a tally from the ledger. What it has not counted is the last line only if the caller is about to add it. Lines
// that were pruned are not in it; but no number of a run that has left output is given again.
func (s *Store) recount(id string) (t tally, err error) {
	var lines []written
	err = s.history(id, func(e entry, sum string) bool {
		if counts(e.Line) {
			lines = append(lines, written{e, sum})
		}
		return e.Type != state.LineTask || e.Event != state.EventCreated
	})
	if err != nil {
		return t, err
	}
	for _, l := range slices.Backward(lines) {
		t.add(l.Line, l.sum)
	}
	files, err := s.outputNames(id)
	for _, f := range files {
		if n, ok := runOf(f); ok {
			t.Number = max(t.Number, n)
		}
	}
	return t, err
}

// add counts one more line.
func (t *tally) add(l state.Line, sum string) {
	t.Count(l)
	t.Line = sum
}

// count brings a task's tally up to date with the ledger's last line. It can be done any number of times.
func (t *turn) count(l state.Line, sum string) error {
	old, err := t.readTally(l.TaskID)
	if err != nil {
		return err
	}
	if old.Line == sum {
		return nil
	}
	old.add(l, sum)
	return t.writeTally(l.TaskID, old)
}

func (t *turn) writeTally(id string, v tally) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	return fail("writing the tally of "+id, replace(t.disk, t.path(tallyPlace(id)), data))
}

// tallied are the IDs that have a tally, so that a list of many tasks does not ask for each.
func (s *Store) tallied() (map[string]bool, error) {
	files, err := readNames(s.path(tallyDir))
	if err != nil {
		return nil, err
	}
	ids := make(map[string]bool, len(files))
	for _, f := range files {
		if n := len(f) - len(suffix); n > 0 && f[n:] == suffix {
			ids[f[:n]] = true
		}
	}
	return ids, nil
}
