package codec

import (
	"bytes"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// openRecord is an open record as it stands in its file, behind its note.
type openRecord struct {
	Format int `toml:"format"`
	state.Record
}

// notedRecord is an open record with its note.
type notedRecord struct {
	noted
	openRecord
}

// noted is what becomes known of a claim later on: the first lines of its record, in a room of
// fixed size that is written over in place. What follows them is never written again: a hint must
// not put a claim at risk. A note that is torn is none.
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

// NoteRoom is the size of that room.
const NoteRoom = 512

// Note is what is noted in an open record, as it fills the room.
func Note(r state.Record) ([]byte, error) {
	data, _ := writePlain(noted{state.UTC(r.Starting), state.UTC(r.Started), state.UTC(r.First), r.Attempt, state.UTC(r.Retry),
		r.Child.PID, r.Child.Start, r.Child.Boot, r.Child.NS})
	if len(data) > NoteRoom {
		return nil, fmt.Errorf("%w: a note of %d bytes", state.ErrInvalid, len(data))
	}
	return append(data, bytes.Repeat([]byte("\n"), NoteRoom-len(data))...), nil
}

// EncodeRecord writes an open record's file.
func EncodeRecord(r state.Record) ([]byte, error) {
	note, err := Note(r)
	if err != nil {
		return nil, err
	}
	data, err := Encode(openRecord{state.Format, r})
	return append(note, data...), err
}

// DecodeRecord reads an open record's file and what is noted about its process. Of one whose note
// is torn nobody knows whether it was started; it counts as begun when it was claimed.
// state.ErrNewer and ErrBroken are as of DecodeTask.
func DecodeRecord(data []byte) (state.Record, error) {
	r, err := decodeNoted(data)
	if err == nil {
		err = fitTask(&r.Task)
	}
	if err != nil {
		return state.Record{}, err
	}
	r.Record.Starting, r.Record.Started, r.Record.First = state.UTC(r.noted.Starting), state.UTC(r.noted.Started), state.UTC(r.noted.First)
	r.Record.Attempt, r.Record.Retry = r.noted.Attempt, state.UTC(r.noted.Retry)
	r.Claimed, r.Child = state.UTC(r.Claimed), state.Ident{PID: r.PID, Start: r.Start, Boot: r.Boot, NS: r.NS}
	if r.PID != 0 {
		r.Child.Node = r.Runner.Node // who started it
	}
	return r.Record, nil
}

func decodeNoted(data []byte) (r notedRecord, err error) {
	if len(data) < NoteRoom {
		err = Decode(data, &r)
		return r, err
	}
	note := data[:min(len(bytes.TrimRight(data[:NoteRoom], "\n"))+1, NoteRoom)]
	if readPlain(note, &r.noted) && plainFile(data[NoteRoom:], &r.openRecord) && r.Format == state.Format {
		return r, nil
	}
	r = notedRecord{}
	if _, err = decodeAny(data, recordBounds, &r); err == nil {
		return r, nil
	}
	r = notedRecord{}
	if Decode(data[NoteRoom:], &r) != nil {
		return r, err
	}
	r.noted.Starting = r.Claimed
	return r, nil
}
