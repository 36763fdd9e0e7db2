package files

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// openRecord is an open record as it stands in its file.
type openRecord struct {
	Format int `toml:"format"`
	state.Record
}

// notedRecord is an open record with its note.
type notedRecord struct {
	noted
	openRecord
}

// noted is what Started and Note know of a claim: the first lines of its record, in a room of fixed size that is written over
// in place. What follows them is never written again: a hint must not put a claim at risk. A note that is torn is none.
type noted struct {
	Starting time.Time `toml:"note_starting"`
	Started  time.Time `toml:"note_started"`
	First    time.Time `toml:"note_first,omitempty"`
	Attempt  int       `toml:"note_attempt"`
	Retry    time.Time `toml:"note_retry"`
	PID      int       `toml:"note_pid"`
	Start    uint64    `toml:"note_pid_start"`
	Boot     string    `toml:"note_boot"`
	NS       string    `toml:"note_pidns"`
}

// noteRoom is the size of that room.
const noteRoom = 512

// noteText is a note as it fills the room. It is written several times for each run, so not by the library, which takes a
// hundred times as long.
func noteText(r state.Record) ([]byte, error) {
	data := make([]byte, 0, noteRoom)
	instant := func(key string, t time.Time) {
		data = append(state.UTC(t).AppendFormat(append(append(data, key...), " = "...), time.RFC3339Nano), '\n')
	}
	instant("note_starting", r.Starting)
	instant("note_started", r.Started)
	if !r.First.IsZero() {
		instant("note_first", r.First)
	}
	data = fmt.Appendf(data, "note_attempt = %d\n", r.Attempt)
	instant("note_retry", r.Retry)
	data = fmt.Appendf(data, "note_pid = %d\nnote_pid_start = %d\nnote_boot = %s\nnote_pidns = %s\n",
		r.Child.PID, r.Child.Start, basicString(r.Child.Boot), basicString(r.Child.NS))
	if len(data) > noteRoom {
		return nil, fmt.Errorf("%w: a note of %d bytes", state.ErrInvalid, len(data))
	}
	for len(data) < noteRoom {
		data = append(data, '\n')
	}
	return data, nil
}

// basicString is a TOML string. What it is used for is made of ASCII by the system.
func basicString(s string) string {
	return strconv.QuoteToASCII(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s))
}

// take puts what is noted into the record.
func (n noted) take(r *state.Record) {
	r.Starting, r.Started, r.First, r.Attempt, r.Retry = state.UTC(n.Starting), state.UTC(n.Started), state.UTC(n.First), n.Attempt, state.UTC(n.Retry)
	r.Child = state.Ident{PID: n.PID, Start: n.Start, Boot: n.Boot, NS: n.NS}
	if n.PID != 0 {
		r.Child.Node = r.Runner.Node // who started it
	}
}

// recordText is an open record's file.
func recordText(r state.Record) ([]byte, error) {
	note, err := noteText(r)
	if err != nil {
		return nil, err
	}
	data, err := encode(openRecord{state.Format, r})
	return append(note, data...), err
}

// Started writes over the note in the record. Where the record is gone, there is nothing to note.
func (s *Store) Started(ctx context.Context, r state.Record) error {
	n, err := nameOf(r.Task.ID, r.Due)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := noteText(r)
	if err != nil {
		return err
	}
	if err := s.disk.patch(s.path(openDir+"/"+n.record()), data); err != nil && !missing(err) {
		return fail("noting a process", err)
	}
	return nil
}

// Halted reads the requests among the open records.
func (s *Store) Halted(ctx context.Context) ([]state.Record, error) {
	files, err := readNames(s.path(openDir))
	if err != nil || ctx.Err() != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	var asked []name
	for _, f := range files {
		if record, ok := strings.CutSuffix(f, ".halt"); ok {
			if n, ok := parseRecordName(record + suffix); ok {
				asked = append(asked, n)
			}
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	list, _ := s.records(asked)
	return list, nil
}
