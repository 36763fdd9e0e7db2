package files

import (
	"context"
	"errors"
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
