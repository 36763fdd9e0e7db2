package files

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

func tallyPlace(id string) string { return tallyDir + "/" + id + suffix }

// readTally reads a task's tally. It is zero if none of the occurrences has ended. A damaged tally
// is computed again from the whole ledger, which is slow and rare.
func (s *Store) readTally(id string) (state.Tally, error) {
	v, _, err := s.tallyOf(id)
	return v, err
}

// tallyOf returns a task's tally, and the content of its file; nil if there is none.
func (s *Store) tallyOf(id string) (v state.Tally, data []byte, err error) {
	data, err = readFile(s.path(tallyPlace(id)), noteLimit)
	if missing(err) {
		return v, nil, nil
	}
	if err == nil {
		err = codec.Decode(data, &v)
	}
	if garbled(err) {
		v, err = s.recount(id)
		return v, append([]byte{}, data...), err
	}
	v.LastDue, v.LastEnd, v.Busy = state.UTC(v.LastDue), state.UTC(v.LastEnd), state.UTC(v.Busy)
	v.First, v.Again = state.UTC(v.First), state.UTC(v.Again)
	return v, data, fail("reading the tally of "+id, err)
}

// recount computes a tally from the ledger. Pruned lines are missing from it, but the number of a
// run that has left output is not used again.
func (s *Store) recount(id string) (v state.Tally, err error) {
	var lines []state.Line
	err = s.history(id, func(e ledger.Entry) bool {
		if e.Counts() {
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

// tallied returns the IDs that have a tally, so that a list of many tasks need not look for each.
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
