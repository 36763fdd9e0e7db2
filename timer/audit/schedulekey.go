package audit

import (
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// scheduleKey identifies a schedule in few bytes. The zero value is that of a one-shot.
type scheduleKey struct {
	words uint32 // index into scheduleKeys.words, from 1 on
	start int64  // in Unix nanoseconds
}

// scheduleKeys are the schedules of a ledger. Many tasks share the same words.
type scheduleKeys struct {
	words  []state.Timing    // without their start, unless a key cannot hold it
	number map[string]uint32 // the index of each, by all that the words say
	read   map[scheduleKey]*when.Schedule
}

// maxSchedules is how many schedules are kept, so that when as many tasks take turns none is read
// twice.
const maxSchedules = 4096

// of returns the key of a timing, or false when the schedule cannot be read.
func (s *scheduleKeys) of(t *state.Timing) (r scheduleKey, ok bool) {
	if t == nil {
		return r, false
	}
	if t.Kind == "once" || t.OfBoots() { // its instants are in the ledger
		return r, true
	}
	words := *t
	words.Start, words.End = words.Start.UTC(), words.End.UTC()
	if start := words.Start.UnixNano(); time.Unix(0, start).Equal(words.Start) {
		r.start, words.Start = start, time.Time{}
	}
	key := fmt.Sprintf("%#v", words)
	if r.words = s.number[key]; r.words == 0 {
		if s.number == nil {
			s.number, s.read = map[string]uint32{}, map[scheduleKey]*when.Schedule{}
		}
		s.words = append(s.words, words)
		r.words = uint32(len(s.words))
		s.number[key] = r.words
	}
	_, err := s.schedule(r)
	return r, err == nil
}

// schedule reads a schedule. It is nil for a one-shot.
func (s *scheduleKeys) schedule(r scheduleKey) (*when.Schedule, error) {
	if r.words == 0 {
		return nil, nil
	}
	if known, ok := s.read[r]; ok {
		return known, nil
	}
	t := s.words[r.words-1]
	if t.Start.IsZero() {
		t.Start = time.Unix(0, r.start).UTC()
	}
	schedule, err := rules.Recurrence(t)
	if err != nil {
		return nil, err
	}
	if len(s.read) >= maxSchedules {
		clear(s.read)
	}
	s.read[r] = schedule
	return schedule, nil
}
