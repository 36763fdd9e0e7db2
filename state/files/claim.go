package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
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

// Claim creates the record ID.DUE.toml, which must not exist, and syncs it; then it renames the task's file DUE.ID.toml to
// its next due, or into the folder of those that ended, and syncs that. Both happen under the state lock.
//
// A claim that did not get so far is one whose record and whose file in the queue say the same instant. Claim has
// not returned then and no process was started for it. Readers do not count such a record, and the next claim, skip or
// removal drops it: the occurrence is granted anew. A record alone is a claim that may have been granted.
func (s *Store) Claim(ctx context.Context, id string, due, next time.Time, by state.Ident, now time.Time) (state.Record, error) {
	t, err := s.begin(ctx)
	if err != nil {
		return state.Record{}, err
	}
	defer t.done()
	return t.claim(state.Want{ID: id, Due: due, Next: next}, by, now)
}

func (t *turn) claim(w state.Want, by state.Ident, now time.Time) (state.Record, error) {
	c, err := t.prepareClaim(w, by, now)
	if err != nil {
		return state.Record{}, err
	}
	if err := t.grant(c.name, c.data, c.from, c.to); err != nil {
		return state.Record{}, fail("claiming an occurrence", err)
	}
	t.noteKey(c.record.Task, c.to)
	return c.record, nil
}

// claiming is a claim that is ready to be granted.
type claiming struct {
	name     name
	record   state.Record
	data     []byte // the record's content
	from, to string // places of the task's file
}

// prepareClaim does all of a claim but the granting: when it fails, the claim is refused.
func (t *turn) prepareClaim(w state.Want, by state.Ident, now time.Time) (c claiming, err error) {
	if c.name, c.to, err = steps(w.ID, w.Due, w.Next); err != nil {
		return c, err
	}
	c.from = queueDir + "/" + c.name.queue()
	task, err := t.readTask(c.from, w.ID)
	if missing(err) {
		return c, state.ErrTaken
	}
	if err != nil {
		return c, fail("reading a task", err)
	}
	if err := t.dropUnfinished(c.name); err != nil {
		return c, err
	}
	tally, err := t.readTally(w.ID)
	if err != nil {
		return c, err
	}
	if tally.Taken(w.Due) {
		// It has ended already and must not come twice; left where it is, it would be found due for ever.
		if err := t.move(c.from, c.to); err != nil {
			return c, fail("moving a task", err)
		}
		return c, state.ErrTaken
	}
	t.dropHalt(openDir + "/" + c.name.record())
	number, err := t.nextNumber(w.ID, tally)
	if err != nil {
		return c, err
	}
	c.record = state.Record{Task: task, Due: c.name.time(), Number: number, Claimed: now.UTC(), Runner: by}
	if c.data, err = recordText(c.record); err != nil {
		return c, err
	}
	return c, t.makeRoom(task)
}

// granted is the name and the place of the record of an open claim. state.ErrEnded when there is none.
func (t *turn) granted(r state.Record) (n name, record string, err error) {
	if n, err = nameOf(r.Task.ID, r.Due); err != nil {
		return n, "", err
	}
	record = openDir + "/" + n.record()
	if _, err := os.Lstat(t.path(record)); missing(err) || t.unfinished(n) {
		return n, "", state.ErrEnded
	}
	return n, record, nil
}

// Release puts the task's file back to the claim's instant: from then on the record is one of a claim that was never
// granted, and is removed now or by whoever claims next. A manual claim is nothing but its record.
func (s *Store) Release(ctx context.Context, r state.Record) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	n, record, err := t.granted(r)
	if err != nil {
		return err
	}
	if r.Manual {
		t.dropOutput(r.Task.ID, r.Number)
		return fail("releasing a claim", t.unlink(record))
	}
	f, open, err := t.whereIs(r.Task.ID)
	if errors.Is(err, state.ErrNotFound) {
		return state.ErrTaken
	}
	if err != nil {
		return err
	}
	task, err := t.readTask(f.place(), f.id)
	if err != nil {
		return fail("reading a task", err)
	}
	tally, err := t.readTally(f.id)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(open), func(o name) bool { return o == n })
	switch {
	case f.dir == queueDir && f.due > n.due, f.dir == endedDir && f.due == n.due:
	default:
		return state.ErrTaken
	}
	if task.Revision != r.Task.Revision || t.checkFree(n, others, tally.Tally) != nil {
		return state.ErrTaken
	}
	to := queueDir + "/" + n.queue()
	t.dropOutput(r.Task.ID, r.Number)
	if err := t.giveBack(record); err != nil {
		return fail("releasing a claim", err)
	}
	if err := t.move(f.place(), to); err != nil {
		return fail("releasing a claim", err)
	}
	t.noteKey(task, to)
	t.unlink(record)
	return nil
}

// dropOutput removes the files for the output of a run for which nothing was started: a number that
// has some is not given again.
func (t *turn) dropOutput(id string, number int) {
	files, err := t.outputNames(id)
	if err != nil {
		return // a number is left out, then
	}
	for _, f := range files {
		if n, ok := runOf(f); ok && n == number {
			t.disk.remove(t.path(outputDir + "/" + id + "/" + f))
		}
	}
}

// grant is the claim itself. On error nothing was granted, and the task is still due if the disk lets it be.
func (t *turn) grant(n name, data []byte, from, to string) error {
	record := openDir + "/" + n.record()
	err := t.writeRecord(n, data)
	if err == nil {
		if err = t.move(from, to); err == nil {
			return nil
		}
		// Back into the queue, so that it can be claimed again. Where even that fails, the record stays and will be found
		// without a process: the occurrence ends interrupted, and is not lost.
		if _, gone := os.Lstat(t.path(from)); missing(gone) {
			if t.move(to, from) != nil {
				return err
			}
		}
	}
	t.disk.remove(t.path(record)) // if this fails, the record is recognised as unfinished
	return err
}

// steps are the names of an occurrence and of the place its task's file goes to.
func steps(id string, due, next time.Time) (n name, to string, err error) {
	if !state.WholeID(id) {
		return n, "", state.ErrNotFound
	}
	if err := state.CheckNext(due, next); err != nil {
		return n, "", err
	}
	if n, err = nameOf(id, due); err != nil {
		return n, "", err
	}
	if next.IsZero() {
		return n, endedDir + "/" + n.queue(), nil
	}
	after, err := nameOf(id, next)
	return n, queueDir + "/" + after.queue(), err
}

// dropUnfinished removes the record of a claim that was never granted: the task's file still stands at its instant. Whoever
// moves the file must call it first, or the record would look granted.
func (t *turn) dropUnfinished(n name) error {
	place := openDir + "/" + n.record()
	if _, err := os.Lstat(t.path(place)); missing(err) || !t.unfinished(n) {
		return nil
	}
	return fail("dropping an unfinished claim", t.unlink(place))
}

// dropHalt removes a request that is beside no record, such as that of a claim that was released before the power was lost: it
// is not meant for the claim that comes.
func (t *turn) dropHalt(record string) {
	if _, err := os.Lstat(t.path(haltOf(record))); err == nil {
		t.disk.remove(t.path(haltOf(record)))
	}
}

// nextNumber is the number of a task's next occurrence: after the last that ended and after those that are open.
func (t *turn) nextNumber(id string, v tally) (int, error) {
	number := v.Number
	open := t.open[id]
	if t.open == nil {
		names, err := t.list(openOnly, id)
		if err != nil {
			return 0, err
		}
		open = names.open[id]
	}
	for _, n := range open {
		r, err := t.readRecord(n)
		switch {
		case errors.Is(err, errDecode), errors.Is(err, errOdd):
			r.Number = number + 1 // it is damaged, and had a number
		case err != nil:
			return 0, fail("reading an open claim", err)
		}
		number = max(number, r.Number)
	}
	if number == 0 && len(open) == 0 {
		// A task that has output has run: its tally was removed, and numbers must not come twice.
		if files, _ := t.outputNames(id); len(files) > 0 {
			v, err := t.recount(id)
			return v.Number + 1, err
		}
	}
	return number + 1, nil
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

// Skip appends the line and moves the task's file on. After a crash in between the next change moves the file. Where
// the instants have ended already, as after a name was changed by hand, it only moves the file.
func (s *Store) Skip(ctx context.Context, id string, due, next time.Time, line state.Line) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	n, to, err := steps(id, due, next)
	if err != nil {
		return err
	}
	if err := state.CheckSkip(line.Outcome); err != nil {
		return err
	}
	from := queueDir + "/" + n.queue()
	if _, err := os.Lstat(t.path(from)); missing(err) {
		if from, to, err = t.pausedStep(n, next); err != nil {
			return err
		}
	} else if err := t.dropUnfinished(n); err != nil {
		return err
	}
	tally, err := t.readTally(id)
	if err != nil {
		return err
	}
	last := n.time()
	if line.DueLast != nil {
		last = *line.DueLast
	}
	if !last.After(tally.Floor()) {
		return fail("moving a task", t.move(from, to))
	}
	number, err := t.nextNumber(id, tally)
	if err != nil {
		return err
	}
	line = line.Of(id, number, due)
	if line.At.IsZero() {
		line.At = time.Now()
	}
	task, err := t.readTask(from, id)
	if err != nil {
		task = state.Task{} // it is damaged; the line keeps what it says
	}
	line.Revision = task.Revision
	return t.change(lean(line, task.Said(), redo{IDs: t.end.ids, From: from, To: to}))
}

// End appends the line, counts it, and removes the record. After a crash in between the next change does the rest, and
// Open does not show the claim any more.
func (s *Store) End(ctx context.Context, r state.Record, line state.Line) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	return t.endClaim(state.Ending{Record: r, Line: line})
}

func (t *turn) endClaim(e state.Ending) error {
	end, err := t.prepareEnd(e)
	if err != nil {
		return err
	}
	return t.change(end)
}

// prepareEnd is the line a claim ends with, and the removal of its record.
func (t *turn) prepareEnd(e state.Ending) (end entry, err error) {
	r := e.Record
	_, record, err := t.granted(r)
	if err != nil {
		return end, err
	}
	if err := state.CheckEnd(e.Line.Outcome); err != nil {
		return end, err
	}
	if r.Number == 0 { // its record was damaged
		tally, err := t.readTally(r.Task.ID)
		if err != nil {
			return end, err
		}
		r.Number = tally.Number + 1
	}
	line := e.Line.Of(r.Task.ID, r.Number, r.Due)
	line.Revision = r.Task.Revision
	if r.Manual {
		line.Type = state.LineManual
	}
	if line.At.IsZero() {
		line.At = time.Now()
	}
	return lean(line, r.Task.Said(), redo{IDs: t.end.ids, From: record}), nil
}
