package codec

import (
	"bytes"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// openRecord is an open record as it is in its file, after its note.
type openRecord struct {
	Format int `toml:"format"`
	state.Record
}

// notedRecord is an open record with its note.
type notedRecord struct {
	noted
	openRecord
}

// noted is what becomes known of a claim after it was made. It is the beginning of the file, which
// has a fixed size and is overwritten in place. The rest is never written again, so that a note
// cannot damage a claim. A note that was written halfway does not count.
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

// NoteSize is the size of a note in bytes.
const NoteSize = 512

// Note encodes what is noted about a claim in NoteSize bytes.
func Note(r state.Record) ([]byte, error) {
	data, _ := writePlain(noted{state.UTC(r.Starting), state.UTC(r.Started), state.UTC(r.First), r.Attempt, state.UTC(r.Retry),
		r.Child.PID, r.Child.Start, r.Child.Boot, r.Child.NS})
	if len(data) > NoteSize {
		return nil, fmt.Errorf("%w: a note of %d bytes", state.ErrInvalid, len(data))
	}
	return append(data, bytes.Repeat([]byte("\n"), NoteSize-len(data))...), nil
}

// EncodeRecord encodes the file of an open record.
func EncodeRecord(r state.Record) ([]byte, error) {
	note, err := Note(r)
	if err != nil {
		return nil, err
	}
	data, err := Encode(openRecord{state.Format, r})
	return append(note, data...), err
}

// DecodeRecord decodes the file of an open record, with what is noted about its process. If the
// note was written halfway, it is not known whether the process was started, and it counts as begun
// when it was claimed. The errors are those of DecodeTask.
func DecodeRecord(data []byte) (state.Record, error) {
	r, err := decodeNoted(data)
	if err == nil {
		err = normalizeTask(&r.Task)
	}
	if err != nil {
		return state.Record{}, err
	}
	r.Record.Starting, r.Record.Started, r.Record.First = state.UTC(r.noted.Starting), state.UTC(r.noted.Started), state.UTC(r.noted.First)
	r.Record.Attempt, r.Record.Retry = r.noted.Attempt, state.UTC(r.noted.Retry)
	r.Claimed, r.Child = state.UTC(r.Claimed), state.Ident{PID: r.PID, Start: r.Start, Boot: r.Boot, NS: r.NS}
	if r.PID != 0 {
		r.Child.Node = r.Runner.Node // the runner has started it
	}
	return r.Record, nil
}

// decodeNoted is DecodeRecord before the values are checked.
func decodeNoted(data []byte) (r notedRecord, err error) {
	if len(data) < NoteSize {
		err = Decode(data, &r)
		return r, err
	}
	note := data[:min(len(bytes.TrimRight(data[:NoteSize], "\n"))+1, NoteSize)]
	if readPlain(note, &r.noted) && readPlainFile(data[NoteSize:], &r.openRecord) && r.Format == state.Format {
		return r, nil
	}
	r = notedRecord{}
	if _, err = decodeAny(data, recordBounds, &r); err == nil {
		return r, nil
	}
	r = notedRecord{}
	if Decode(data[NoteSize:], &r) != nil {
		return r, err
	}
	r.noted.Starting = r.Claimed
	return r, nil
}
