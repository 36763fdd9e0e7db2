package files

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// A note is a small TOML file that is written as a whole.

// load reads a note into a zero value. os.ErrNotExist: there is none.
func (s *Store) load(place string, v any) error {
	data, err := readFile(s.path(place), noteLimit)
	if err != nil {
		return err
	}
	return codec.Decode(data, v)
}

// loadNote is load of a note that may be missing. It returns the zero value for one that cannot be
// read, too.
func loadNote[T any](s *Store, place string) (v T, err error) {
	err = s.load(place, &v)
	if err == nil || missing(err) {
		return v, nil
	}
	return *new(T), fmt.Errorf("%s: %w", s.path(place), err)
}

// wholeNote is loadNote where a damaged note counts as none.
func wholeNote[T any](ctx context.Context, s *Store, place string) (v T, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	if v, err = loadNote[T](s, place); garbled(err) {
		err = nil
	}
	return v, err
}

// noteLimit bounds what is read of a note.
const noteLimit = 1 << 16

// note replaces a note. It takes no lock, and does not wait for the disk.
func (s *Store) note(place string, v any) error {
	if err := s.stillLed(); err != nil {
		return err
	}
	data, err := codec.Encode(v)
	if err != nil {
		return err
	}
	return exchange(s.disk, s.path(place), data)
}

// putNote collects a note, or its removal.
func (t *tx) putNote(place string, v any, keep bool) error {
	if !keep {
		t.drop(place)
		return nil
	}
	data, err := codec.Encode(v)
	if err != nil {
		return err
	}
	old, err := readFile(t.path(place), noteLimit)
	if err != nil && !missing(err) && !garbled(err) {
		return fail("reading "+place, err)
	}
	t.put(place, data, old)
	return nil
}

// ClockShift returns what was stored about a clock that is back. A damaged note counts as none, and
// the counting begins again.
func (s *Store) ClockShift(ctx context.Context) (b state.ClockShift, err error) {
	b, err = wholeNote[state.ClockShift](ctx, s, clockShiftFile)
	b.Peak = state.UTC(b.Peak)
	return b, fail("reading what is known of the clock", err)
}

// SetClockShift replaces the note.
func (s *Store) SetClockShift(ctx context.Context, b state.ClockShift) error {
	return s.transact(ctx, func(t *tx) error { return t.putNote(clockShiftFile, b, !b.IsZero()) })
}

// Trouble returns what a runner noted. A note that cannot be read counts as none.
func (s *Store) Trouble(ctx context.Context) (t state.Trouble, err error) {
	t, err = wholeNote[state.Trouble](ctx, s, troubleFile)
	t.At = state.UTC(t.At)
	return t, fail("reading what a runner had trouble with", err)
}

// SetTrouble takes no lock. Of two concurrent notes, one stays.
func (s *Store) SetTrouble(t state.Trouble) error {
	if err := s.ready(); err != nil {
		return err
	}
	t.At = state.UTC(t.At)
	return fail("noting what a runner had trouble with", s.note(troubleFile, t))
}

// noteDropped counts items that were dropped before anybody acknowledged them.
func (t *tx) noteDropped(items int, now time.Time) error {
	if items == 0 {
		return nil
	}
	d, _ := t.dropped() // a count that cannot be read begins at 0 again
	d.Count(items, now)
	return t.putNote(droppedFile, d, true)
}

// Dropped says how many items were dropped.
func (s *Store) Dropped(ctx context.Context) (state.Dropped, error) {
	if err := ctx.Err(); err != nil {
		return state.Dropped{}, err
	}
	return s.dropped()
}

func (s *Store) dropped() (state.Dropped, error) {
	d, err := loadNote[state.Dropped](s, droppedFile)
	d.Since, d.Last = state.UTC(d.Since), state.UTC(d.Last)
	return d, err
}

// agentsPrefix begins the names of the notes of agent processes. The process ID of their runner
// follows.
const agentsPrefix = "agents-"

func agentsPlace(runner state.Ident) string {
	return fmt.Sprintf("%s/%s%d%s", runsDir, agentsPrefix, runner.PID, suffix)
}

// NoteAgents notes the agent processes that a runner keeps, and does not wait for the disk.
func (s *Store) NoteAgents(ctx context.Context, a state.Agents) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(a.Processes) == 0 {
		if err := s.disk.remove(s.path(agentsPlace(a.Runner))); err != nil && !missing(err) {
			return fail("noting the agents", err)
		}
		return nil
	}
	if err := s.ready(); err != nil {
		return err
	}
	return fail("noting the agents", s.note(agentsPlace(a.Runner), a))
}

// Agents returns all notes of agent processes. One that cannot be read is left out and reported by
// the error.
func (s *Store) Agents(ctx context.Context) (all []state.Agents, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	files, err := readNames(s.path(runsDir))
	problems := []error{err}
	for _, file := range files {
		if !strings.HasPrefix(file, agentsPrefix) || !strings.HasSuffix(file, suffix) {
			continue
		}
		var one state.Agents
		switch err := s.load(runsDir+"/"+file, &one); {
		case missing(err): // it was removed since
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", s.path(runsDir+"/"+file), err))
		default:
			all = append(all, one)
		}
	}
	return all, errors.Join(problems...)
}
