package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// recordLimit bounds what is read of an open record: a task and a little more.
const recordLimit = state.TaskLimit + 1<<16

// Started writes over the note in the record. If the record is gone, there is nothing to note.
func (s *Store) Started(ctx context.Context, r state.Record) error {
	n, err := nameOf(r.Task.ID, r.Due)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := codec.Note(r)
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
	list, _, err := s.records(asked)
	return list, err
}

// readRecord reads an open record and the note about its process, and returns the content of its
// file. With an error that it is garbled, the record has only what the file's name says, so that
// its occurrence can still end with an outcome.
func (s *Store) readRecord(n name) (r state.Record, data []byte, err error) {
	data, err = readFile(s.path(openDir+"/"+n.record()), recordLimit)
	if err == nil {
		r, err = s.recordIn(n, data)
	}
	if garbled(err) {
		r = state.Record{Task: state.Task{ID: n.id}, Due: n.time()}
		data = append([]byte{}, data...) // not nil: there is a file
	}
	return r, data, err
}

// recordIn reads the content of a record's file.
func (s *Store) recordIn(n name, data []byte) (state.Record, error) {
	r, err := codec.DecodeRecord(data)
	if err != nil {
		return state.Record{}, err
	}
	if r.Task.ID != n.id {
		return state.Record{}, fmt.Errorf("%w: its name says task %s, and it says %q", codec.ErrBroken, n.id, r.Task.ID)
	}
	r.Due = n.time()
	why, err := readFile(s.path(haltOf(openDir+"/"+n.record())), haltMost)
	switch {
	case err == nil:
		r.Halt = string(why)
	case !missing(err) && !garbled(err):
		return state.Record{}, err
	}
	return r, nil
}

// records reads open records, oldest first. A damaged record is reported. A record that could not
// be read is reported and missing from the list. unread is the error of the first of these; nobody
// may decide anything from such a list.
func (s *Store) records(open []name) (list []state.Record, problems []state.Problem, unread error) {
	for _, n := range open {
		r, _, err := s.readRecord(n)
		if missing(err) { // it has ended
			continue
		}
		bad := state.Problem{Path: s.path(openDir + "/" + n.record()), Err: err}
		switch {
		case garbled(err):
			bad.Hint = "the runner ends its occurrence as interrupted"
			problems = append(problems, bad)
		case err != nil:
			bad.Hint = adviceOn(err, "its occurrence stays open until it can be read")
			problems = append(problems, bad)
			unread = cmp.Or(unread, fail("reading an open claim", err))
			continue
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b state.Record) int { return a.Claimed.Compare(b.Claimed) })
	return list, problems, unread
}

// Open returns the claims that were granted and have not ended.
func (s *Store) Open(ctx context.Context) ([]state.Record, []state.Problem, error) {
	all, err := s.snapshot(ctx, openOnly, "")
	if err != nil {
		return nil, nil, err
	}
	var open []name
	for _, n := range all.open {
		open = append(open, n...)
	}
	slices.SortFunc(open, func(a, b name) int { return strings.Compare(a.due+a.id, b.due+b.id) })
	list, problems, _ := s.records(open) // each is seen to by itself
	return list, problems, nil
}
