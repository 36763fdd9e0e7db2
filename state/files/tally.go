package files

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

func tallyPlace(id string) string { return tallyDir + "/" + id + suffix }

// tallyLimit bounds what is read of a tally.
const tallyLimit = 1 << 16

// counts reports whether a line changes its task's tally.
func counts(l state.Line) bool { return l.Counts() && state.WholeID(l.TaskID) }

// readTally reads a task's tally; the zero tally when none of its occurrences has ended. One that is damaged is made again
// from the whole ledger, which is slow and rare.
func (s *Store) readTally(id string) (v state.Tally, err error) {
	data, err := readFile(s.path(tallyPlace(id)), tallyLimit)
	if missing(err) {
		return v, nil
	}
	if err == nil {
		if err = codec.Decode(data, &v); err == nil {
			v.LastDue, v.LastEnd, v.Busy = state.UTC(v.LastDue), state.UTC(v.LastEnd), state.UTC(v.Busy)
			v.First, v.Again = state.UTC(v.First), state.UTC(v.Again)
			return v, nil
		}
	}
	if garbled(err) {
		return s.recount(id)
	}
	return v, fail("reading the tally of "+id, err)
}

// recount makes a tally from the ledger. Lines that were pruned are not in it; but no number of a run that has left output is given again.
func (s *Store) recount(id string) (v state.Tally, err error) {
	var lines []state.Line
	err = s.history(id, func(e ledger.Entry) bool {
		if counts(e.Line) {
			lines = append(lines, e.Line)
		}
		return e.Type != state.LineTask || e.Event != state.EventCreated
	})
	if err != nil {
		return v, err
	}
	for _, l := range slices.Backward(lines) {
		v.Count(l)
	}
	files, err := s.outputNames(id)
	for _, f := range files {
		if n, ok := runOf(f); ok {
			v.Number = max(v.Number, n)
		}
	}
	return v, err
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
