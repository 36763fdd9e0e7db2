package files

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// Fire writes an open record and moves nothing. A record without a file at its instant in the queue is a claim that was
// granted, so the record alone is the claim.
func (s *Store) Fire(ctx context.Context, id string, by state.Ident, now time.Time) (state.Record, error) {
	t, err := s.begin(ctx)
	if err != nil {
		return state.Record{}, err
	}
	defer t.done()
	f, open, err := t.whereIs(id)
	if err != nil {
		return state.Record{}, err
	}
	if f.dir == removedDir {
		return state.Record{}, state.ErrEnded
	}
	task, err := t.readTask(f.place(), id)
	if err != nil {
		return state.Record{}, fail("reading a task", err)
	}
	n, err := nameOf(id, now)
	for err == nil && (n.due == f.due || taken(open, n) || t.end.ends(openDir+"/"+n.record())) {
		now = now.Add(1)
		n, err = nameOf(id, now)
	}
	if err != nil {
		return state.Record{}, err
	}
	tally, err := t.readTally(id)
	if err != nil {
		return state.Record{}, err
	}
	number, err := t.nextNumber(id, tally)
	if err != nil {
		return state.Record{}, err
	}
	r := state.Record{Task: task, Due: n.time(), Number: number, Manual: true, Claimed: state.UTC(now), Runner: by}
	data, err := recordText(r)
	if err != nil {
		return state.Record{}, err
	}
	if err := t.makeRoom(task); err != nil {
		return state.Record{}, err
	}
	// Unlike one of the schedule, it is not recognised as unfinished: it must not be seen before it is whole.
	record := t.path(openDir + "/" + n.record())
	if err := replace(t.disk, record, data); err != nil {
		t.disk.remove(record)
		return state.Record{}, fail("claiming a run", err)
	}
	return r, nil
}

func taken(open []name, n name) bool {
	for _, o := range open {
		if o.due == n.due {
			return true
		}
	}
	return false
}

// makeRoom makes the folder for the output of a command or an agent.
func (t *turn) makeRoom(task state.Task) error {
	if task.Told() {
		return nil
	}
	if err := t.disk.mkdir(t.path(outputDir + "/" + task.ID)); err != nil && !os.IsExist(err) {
		return fail("making room for its output", err)
	} else if err != nil { // it is there, but perhaps not as a folder
		return fail("making room for its output", plainfile.CheckFolder(t.path(outputDir+"/"+task.ID)))
	}
	return nil
}

// writeRecord makes an open record durable.
func (t *turn) writeRecord(n name, data []byte) error {
	record := t.path(openDir + "/" + n.record())
	err := t.disk.create(record, data)
	if isSync(err) {
		err = t.disk.create(record, data)
	}
	if err == nil {
		err = t.disk.syncDir(t.path(openDir))
	}
	return err
}

// Note writes the record anew, with the note in it, and puts it in the place of the old one.
func (s *Store) Note(ctx context.Context, r state.Record) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	n, record, err := t.granted(r)
	if err != nil {
		return err
	}
	was, err := t.readRecord(n)
	if err != nil {
		return fail("reading an open claim", err)
	}
	was.Starting, was.Started, was.First, was.Child, was.Attempt, was.Retry = r.Starting, r.Started, r.First, r.Child, r.Attempt, r.Retry
	was.Runner = r.Runner
	data, err := recordText(was)
	if err != nil {
		return err
	}
	return fail("noting an attempt", replace(t.disk, t.path(record), data))
}

// haltOf is the place of the request beside a record that its run be ended.
func haltOf(record string) string { return strings.TrimSuffix(record, suffix) + ".halt" }

// haltMost bounds a request.
const haltMost = 1 << 10

// Halt writes a request beside the record. It is a message to a runner that lives: should the machine lose power, there is
// nothing left to end.
func (s *Store) Halt(ctx context.Context, r state.Record, why string) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	_, record, err := t.granted(r)
	if err != nil {
		return err
	}
	place := haltOf(record)
	t.disk.remove(t.path(place)) // an earlier one, perhaps longer
	return fail("asking for the end of a run", t.disk.scribble(t.path(place), []byte(why)))
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

// Finish moves the task's file to those that ended.
func (s *Store) Finish(ctx context.Context, id, why string, now time.Time) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	f, open, err := t.held(id)
	if err != nil {
		return err
	}
	e, err := t.entry(f, open)
	if err != nil {
		return fail("reading a task", err)
	}
	if f.dir == queueDir {
		if err := t.dropUnfinished(f.name); err != nil {
			return err
		}
	}
	line := state.TaskLine(e, state.EventFinished, now)
	line.Reason = why
	to := endedDir + "/" + f.queue()
	if err := t.commit(line, f.place(), to, 0); err != nil {
		return err
	}
	t.noteKey(e.Task, to)
	return nil
}
