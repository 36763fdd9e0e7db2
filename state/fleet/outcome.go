package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// spooled is an outcome that the servers do not have yet.
type spooled struct {
	ID      string      `json:"id"`
	Number  int         `json:"number"`
	Due     time.Time   `json:"due"`
	Claimed time.Time   `json:"claimed"`
	Runner  state.Ident `json:"runner"`
	Line    state.Line  `json:"line"`
	// the line as it is told after a failure, and after another output, if that differs
	Failing *state.Line `json:"failing,omitempty"`
	Changed *state.Line `json:"changed,omitempty"`
}

// spooledOf returns what the spool keeps of an ending. What is told of it depends on the ends
// before (state.Ending.Tell), which only the servers know.
func spooledOf(e state.Ending) spooled {
	line := func(before state.Tally) state.Line {
		l := e.Line
		l.Tell = slices.Clone(l.Tell)
		if e.Tell != nil {
			e.Tell(before, &l)
		}
		return l
	}
	o := spooled{ID: e.Record.Task.ID, Number: e.Record.Number, Due: e.Record.Due, Claimed: e.Record.Claimed, Runner: e.Record.Runner, Line: line(state.Tally{})}
	if l := line(state.Tally{Failing: true}); !reflect.DeepEqual(l, o.Line) {
		o.Failing = &l
	}
	if l := line(state.Tally{Output: "not " + e.Line.StdoutSum}); !reflect.DeepEqual(l, o.Line) {
		o.Changed = &l
	}
	return o
}

// ending is the ending that the spool has kept.
func (o spooled) ending() state.Ending {
	r := state.Record{Task: state.Task{ID: o.ID}, Number: o.Number, Due: o.Due, Claimed: o.Claimed, Runner: o.Runner}
	return state.Ending{Record: r, Line: o.Line, Tell: func(before state.Tally, l *state.Line) {
		switch {
		case before.Failing:
			*l = *cmp.Or(o.Failing, l)
		case before.Output != "" && before.Output != l.StdoutSum:
			*l = *cmp.Or(o.Changed, l)
		}
	}}
}

func spoolName(r state.Record) string { return fmt.Sprintf("%s-%d", r.Task.ID, r.Number) }

// End ends a claim.
func (s *Store) End(ctx context.Context, r state.Record, line state.Line) error {
	return s.EndAll(ctx, []state.Ending{{Record: r, Line: line}})[0]
}

// EndAll ends claims. It first sends what they have written to the servers. An outcome that the
// servers do not take at present is kept on this machine. If this process ends, its next runner
// sends it.
func (s *Store) EndAll(ctx context.Context, ends []state.Ending) []error {
	if s.Contact().Silent > 2*heartbeatEvery {
		for _, e := range ends {
			s.intoSpool(ctx, e)
		}
	}
	s.sendOutputs(ctx, ends)
	answers := s.Verbs.EndAll(ctx, ends)
	for i, err := range answers {
		switch {
		case err == nil, errors.Is(err, state.ErrEnded), errors.Is(err, state.ErrInvalid):
			s.unspool(ctx, ends[i].Record)
		case errors.Is(err, state.ErrUnusable):
			s.intoSpool(ctx, ends[i])
		}
	}
	return answers
}

// intoSpool puts an outcome into the spool. One that cannot be kept there is tried again only by
// this process.
func (s *Store) intoSpool(ctx context.Context, e state.Ending) {
	name := spoolName(e.Record)
	s.mu.Lock()
	there := s.spool[name]
	s.mu.Unlock()
	if there {
		return
	}
	data, err := json.Marshal(spooledOf(e))
	if err != nil || s.Local.Spool(ctx, name, string(data)) != nil {
		return
	}
	s.mu.Lock()
	s.spool[name] = true
	s.mu.Unlock()
}

// unspool removes an outcome from the spool.
func (s *Store) unspool(ctx context.Context, r state.Record) {
	name := spoolName(r)
	s.mu.Lock()
	there := s.spool[name]
	delete(s.spool, name)
	s.mu.Unlock()
	if there {
		// the next runner sends it again, and finds that it has ended
		_ = s.Local.Spool(ctx, name, "")
	}
}

// tellSpooled sends the outcomes that earlier runners of this machine could not send. Those of
// tasks that cannot be read stay for a later runner, which may be newer.
func (s *Store) tellSpooled(ctx context.Context) error {
	var ends []state.Ending
	err := s.Local.Spooled(ctx, func(name, text string) error {
		var o spooled
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			return fmt.Errorf("it is no outcome: %w", err)
		}
		e := o.ending()
		if spoolName(e.Record) != name {
			return errors.New("it is the outcome of another run, or of none")
		}
		ends = append(ends, e)
		return nil
	})
	for _, e := range ends {
		s.mu.Lock()
		s.spool[spoolName(e.Record)] = true
		s.mu.Unlock()
		if e := s.EndAll(ctx, []state.Ending{e})[0]; errors.Is(e, state.ErrUnusable) && !garbled(e) {
			return errors.Join(err, e)
		}
	}
	return err
}

// Output returns what a run writes. For a run on another machine, it is what the servers have of it
// once it has ended.
func (s *Store) Output(taskID string, number int) (stdout, stderr state.Stream) {
	stdout, stderr = s.Local.Output(taskID, number)
	key := fmt.Sprintf("%s.%d.", taskID, number)
	return &stream{stdout, s, key + "1"}, &stream{stderr, s, key + "2"}
}

type stream struct {
	state.Stream
	s   *Store
	key string
}

// Open opens the local output, or that of the servers.
func (o *stream) Open(ctx context.Context) (state.StreamReader, error) {
	f, err := o.Stream.Open(ctx)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	var text []byte
	if e := o.s.patiently(ctx, func(ctx context.Context) (e error) { text, e = o.s.kv.Kept(ctx, o.key); return e }); e != nil {
		return nil, e
	}
	if text == nil {
		return nil, err
	}
	return keptOutput{bytes.NewReader(text)}, nil
}

// keptOutput reads an output that the servers have.
type keptOutput struct{ *bytes.Reader }

func (keptOutput) Close() error           { return nil }
func (k keptOutput) Size() (int64, error) { return k.Reader.Size(), nil }

// outputMost is more than what is kept of an output once its run has ended.
const outputMost = 512 << 10

// sendOutputs sends what runs of this machine have written to the servers. Others may read it; no
// outcome waits for it.
func (s *Store) sendOutputs(ctx context.Context, ends []state.Ending) {
	limited, stop := context.WithCancel(ctx)
	defer stop()
	var telling sync.WaitGroup
	places := make(chan struct{}, 8)
	for _, e := range ends {
		stdout, stderr := s.Output(e.Record.Task.ID, e.Record.Number)
		for i, bytes := range []int64{e.Line.Stdout.Bytes, e.Line.Stderr.Bytes} {
			if o := []state.Stream{stdout, stderr}[i].(*stream); bytes > 0 && limited.Err() == nil {
				places <- struct{}{}
				telling.Go(func() {
					defer func() { <-places }()
					if o.send(limited) != nil {
						stop() // they would not answer for the next either
					}
				})
			}
		}
	}
	telling.Wait()
}

func (o *stream) send(ctx context.Context) error {
	f, err := o.Stream.Open(ctx)
	if err != nil {
		return nil // it ran on another machine, or nothing of it is kept
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, outputMost))
	if err != nil {
		return nil
	}
	return o.s.kv.Keep(ctx, o.key, text)
}
