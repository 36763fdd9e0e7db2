package fleet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Find returns the tasks whose ID is id or begins with it.
func (s *Store) Find(ctx context.Context, id string) (list []state.Entry, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if state.WholeID(id) {
		t := s.newTx(ctx)
		d, err := t.load(id)
		if err != nil {
			return nil, err
		}
		return []state.Entry{d.Entry()}, nil
	}
	if !state.BeginsID(id) {
		return nil, state.ErrNotFound
	}
	found, err := s.taskStates(ctx, idKey(id), true)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if f.garbled != nil {
			return nil, f.garbled
		}
		d, err := s.decode(ctx, f.cell)
		if errors.Is(err, state.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, d.Entry())
	}
	if len(list) == 0 {
		return nil, state.ErrNotFound
	}
	slices.SortFunc(list, func(a, b state.Entry) int { return strings.Compare(a.Task.ID, b.Task.ID) })
	return list, nil
}

// Finder is Find.
func (s *Store) Finder(ctx context.Context) (func(context.Context, string) ([]state.Entry, error), error) {
	return s.Find, ctx.Err()
}

// taskState is the state of a task in a list. It has copies of the few fields that lists need,
// because a whole document is much larger.
type taskState struct {
	id        string
	cell      Cell
	on        []string
	revision  int64
	waits     bool
	shown     state.Phase
	due, wake time.Time
	open      []state.Record
	garbled   error // why only id and cell are known, or nil
}

// taskStates returns the tasks whose IDs begin with prefix, in no order. With past, those that have
// ended are included.
func (s *Store) taskStates(ctx context.Context, prefix string, past bool) (list []taskState, err error) {
	places := []string{living}
	if past {
		// They come second: a task that ends meanwhile is then found twice instead of missed.
		places = append(places, over)
	}
	at := map[string]int{}
	for _, place := range places {
		if prefix != "" {
			place += prefix + "."
		}
		cells, _, err := s.all(ctx, place)
		if err != nil {
			return nil, err
		}
		for _, c := range cells {
			var r record
			id := idOf(c.Key)
			f := taskState{id: id, cell: c}
			if f.garbled = decode(c, &r); f.garbled == nil {
				d := r.doc(id)
				f = taskState{id, c, r.On, r.Revision, d.Waits(), d.Shown(), d.Due, d.Wake(), d.Open, nil}
			}
			if i, ok := at[id]; !ok {
				at[id] = len(list)
				list = append(list, f)
			} else if list[i].cell.Rev < c.Rev {
				list[i] = f
			}
		}
	}
	return list, nil
}

// List returns the tasks in the phases.
func (s *Store) List(ctx context.Context, phases ...state.Phase) (state.Listing, error) {
	if err := ctx.Err(); err != nil {
		return state.Listing{}, err
	}
	past := len(phases) == 0 || slices.Contains(phases, state.Ended) || slices.Contains(phases, state.Removed)
	list, err := s.taskStates(ctx, "", past)
	if err != nil {
		return state.Listing{}, err
	}
	var problems []state.Problem
	list = slices.DeleteFunc(list, func(f taskState) bool {
		if f.garbled != nil {
			problems = append(problems, problem(f.cell.Key, f.garbled))
		}
		return f.garbled != nil || len(phases) > 0 && !slices.Contains(phases, f.shown)
	})
	slices.SortFunc(list, func(a, b taskState) int {
		return state.Order{Rank: a.shown.Rank(), Due: a.due, ID: a.id}.Compare(state.Order{Rank: b.shown.Rank(), Due: b.due, ID: b.id})
	})
	fetched := make([]sync.Once, len(list)/textsChunk+1)
	return state.Listing{
		Len:      len(list),
		Problems: problems,
		Wake: func(i int) time.Time {
			// the runner of this machine does not need it
			if s.drained.Load() || !s.o.Node.Fits(list[i].on) {
				return time.Time{}
			}
			return list[i].wake
		},
		Read: func(i int, into *state.Entry) ([]state.Problem, error) {
			chunk := i / textsChunk
			fetched[chunk].Do(func() {
				var docs []state.Doc
				for _, f := range list[chunk*textsChunk : min(len(list), (chunk+1)*textsChunk)] {
					docs = append(docs, state.Doc{Task: state.Task{ID: f.id, Revision: f.revision}, Open: f.open})
				}
				s.fetchTexts(ctx, docs)
			})
			d, err := s.decode(ctx, list[i].cell)
			switch {
			case err == nil:
				*into = d.Entry()
			case garbled(err):
				return []state.Problem{problem(list[i].cell.Key, err)}, state.ErrNotFound
			}
			return nil, err
		},
	}, nil
}

// Open returns the open claims, oldest first.
func (s *Store) Open(ctx context.Context) ([]state.Record, []state.Problem, error) {
	return s.claims(ctx, func(state.Record) bool { return true })
}

// Halted returns the open claims whose end was asked for.
func (s *Store) Halted(ctx context.Context) ([]state.Record, error) {
	list, _, err := s.claims(ctx, func(r state.Record) bool { return r.Halt != "" })
	return list, err
}

// claimIndex returns the index of the open claim of a record, or -1 when it has ended. The instant
// may have been claimed again.
func claimIndex(d state.Doc, r state.Record) int {
	i := d.Claim(r.Due)
	if i >= 0 && (d.Open[i].Number != r.Number || !d.Open[i].Claimed.Equal(r.Claimed)) {
		return -1
	}
	return i
}

// ifHeld returns a rule about a claim that applies only while the caller still has it. When another
// runner has taken it over, it has ended for the caller.
func ifHeld(r state.Record, rule state.Rule) state.Rule {
	return func(d state.Doc) (state.Doc, []state.Line, error) {
		if i := claimIndex(d, r); i < 0 || d.Open[i].Runner != r.Runner {
			return d, nil, state.ErrEnded
		}
		return rule(d)
	}
}

// Started records the process of a claim, durably. Where another machine may take a claim over,
// nothing begins that is not recorded.
func (s *Store) Started(ctx context.Context, r state.Record) error {
	err := s.Apply(ctx, state.Change{ID: r.Task.ID, Rule: ifHeld(r, state.Started(r))})[0].Err
	if r.Child.PID == 0 {
		return err
	}
	// no process needs to be recorded
	if errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) {
		return nil
	}
	return err
}

// Note records what is known of a claim, or takes it over from a runner that is dead. It is
// state.ErrTaken when another runner has done so.
func (s *Store) Note(ctx context.Context, r state.Record) error {
	err := s.Apply(ctx, state.Change{ID: r.Task.ID, Rule: func(d state.Doc) (state.Doc, []state.Line, error) {
		i := claimIndex(d, r)
		if i < 0 {
			return d, nil, state.ErrEnded
		}
		if has := d.Open[i].Runner; has != r.Runner {
			if lives, err := s.lives(ctx, has); err != nil {
				return d, nil, err
			} else if lives {
				return d, nil, state.ErrTaken
			}
		}
		return state.Note(r)(d)
	}})[0].Err
	if errors.Is(err, state.ErrNotFound) {
		return state.ErrEnded
	}
	return err
}
