package fleet

import (
	"context"
	"errors"
	"iter"
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
	if id == "" || len(id) > 12 || strings.Trim(id, "abcdefghjkmnpqrstuvwxyz23456789") != "" {
		return nil, state.ErrNotFound
	}
	found, err := s.standing(ctx, spelled(id), true)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
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

// stands is the state of a task in a list.
type stands struct {
	id   string
	cell Cell
	on   []string
	// of its document, which has the room for all that a task can say
	waits     bool
	shown     state.Phase
	due, wake time.Time
	open      []state.Record
}

// standing returns the tasks whose IDs begin so, in no order. With past, those that have ended are
// included.
func (s *Store) standing(ctx context.Context, spelled string, past bool) (list []stands, err error) {
	places := []string{living}
	if past {
		// after the live ones, so that a task that ends meanwhile is found twice, and not missed
		places = append(places, over)
	}
	at := map[string]int{}
	for _, place := range places {
		if spelled != "" {
			place += spelled + "."
		}
		cells, _, err := s.all(ctx, place)
		if err != nil {
			return nil, err
		}
		for _, c := range cells {
			var r record
			if err := decode(c, &r); err != nil {
				return nil, err
			}
			id := idOf(c.Key)
			d := r.doc(id)
			f := stands{id, c, r.On, d.Waits(), d.Shown(), d.Due, d.Wake(), d.Open}
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
	list, err := s.standing(ctx, "", past)
	if err != nil {
		return state.Listing{}, err
	}
	if len(phases) > 0 {
		list = slices.DeleteFunc(list, func(f stands) bool { return !slices.Contains(phases, f.shown) })
	}
	slices.SortFunc(list, func(a, b stands) int {
		return state.Order{Rank: a.shown.Rank(), Due: a.due, ID: a.id}.Compare(state.Order{Rank: b.shown.Rank(), Due: b.due, ID: b.id})
	})
	return state.Listing{
		Len: len(list),
		Wake: func(i int) time.Time {
			// the runner of this machine does not need it
			if s.drained.Load() || !s.node.Fits(list[i].on) {
				return time.Time{}
			}
			return list[i].wake
		},
		Read: func(i int, into *state.Entry) ([]state.Problem, error) {
			d, err := s.decode(ctx, list[i].cell)
			if err == nil {
				*into = d.Entry()
			}
			return nil, err
		},
	}, nil
}

// Open returns the open claims, oldest first.
func (s *Store) Open(ctx context.Context) ([]state.Record, []state.Problem, error) {
	list, err := s.claims(ctx, func(state.Record) bool { return true })
	return list, nil, err
}

// Halted returns the open claims whose end was asked for.
func (s *Store) Halted(ctx context.Context) ([]state.Record, error) {
	return s.claims(ctx, func(r state.Record) bool { return r.Halt != "" })
}

// same returns the index of the open claim of a record, or -1 when it has ended. The instant may
// have been claimed again.
func same(d state.Doc, r state.Record) int {
	i := d.Claim(r.Due)
	if i >= 0 && (d.Open[i].Number != r.Number || !d.Open[i].Claimed.Equal(r.Claimed)) {
		return -1
	}
	return i
}

// mine returns a rule about a claim that applies only while the caller still has it. When another
// runner has taken it over, it has ended for the caller.
func mine(r state.Record, rule state.Rule) state.Rule {
	return func(d state.Doc) (state.Doc, []state.Line, error) {
		if i := same(d, r); i < 0 || d.Open[i].Runner != r.Runner {
			return d, nil, state.ErrEnded
		}
		return rule(d)
	}
}

// Started records the process of a claim, durably. Where another machine may take a claim over,
// nothing begins that is not recorded.
func (s *Store) Started(ctx context.Context, r state.Record) error {
	err := s.Change(ctx, state.Change{ID: r.Task.ID, Rule: mine(r, state.Started(r))})[0].Err
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
	err := s.Change(ctx, state.Change{ID: r.Task.ID, Rule: func(d state.Doc) (state.Doc, []state.Line, error) {
		i := same(d, r)
		if i < 0 {
			return d, nil, state.ErrEnded
		}
		if has := d.Open[i].Runner; has != r.Runner {
			living, err := s.Runners(ctx)
			if err != nil {
				return d, nil, err
			}
			if slices.ContainsFunc(living, func(o Runner) bool { return o.Leader.Ident == has }) {
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

// follower is the queue of one caller: the tasks that may run on this node.
type follower struct {
	changed <-chan struct{}
	mu      sync.Mutex
	known   map[string]state.Slot
	whole   bool                // everything must be reported, as in the beginning
	drained bool                // nothing may begin on this node
	seen    []state.Slot        // what has appeared and disappeared since
	spread  map[string][]string // the nodes of tasks that may run elsewhere as well
	words   map[string][]string // those lists, each once
	pulses  map[string]pulse    // the last heartbeats
	drains  map[string]bool     // the keys of drained nodes
}

// Follow reports changes.
func (s *Store) Follow(ctx context.Context) (state.Queue, error) {
	changed, tell := signal()
	f := &follower{changed: changed, known: map[string]state.Slot{}, whole: true, spread: map[string][]string{}, words: map[string][]string{}, pulses: map[string]pulse{}, drains: map[string]bool{}}
	take := func(c Cell) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.take(c, s)
	}
	drained, _, err := s.all(ctx, drains)
	if err != nil {
		return nil, err
	}
	beating, _, err := s.all(ctx, hearts)
	if err != nil {
		return nil, err
	}
	list, last, err := s.all(ctx, living)
	if err != nil {
		return nil, err
	}
	for _, c := range slices.Concat(drained, beating, list) {
		take(c)
	}
	err = s.patiently(ctx, func(context.Context) error {
		return s.kv.Watch(ctx, last, func(c Cell) {
			if take(c); !strings.HasPrefix(c.Key, hearts) { // a heartbeat alone changes nothing now
				tell()
			}
		}, living, drains, hearts)
	})
	s.followed.Store(f)
	return f, err
}

// take records the state of a task.
func (f *follower) take(c Cell, s *Store) {
	if strings.HasPrefix(c.Key, hearts) {
		f.beats(c)
		return
	}
	if strings.HasPrefix(c.Key, drains) {
		if f.drains[c.Key] = len(c.Data) > 0; !f.drains[c.Key] {
			delete(f.drains, c.Key)
		}
		if c.Key == hashKey(drains, s.node.Name) {
			f.drained, f.whole = len(c.Data) > 0, true
			s.drained.Store(f.drained)
		}
		return
	}
	id := idOf(c.Key)
	slot := state.Slot{ID: id, Gone: true}
	var r record
	if len(c.Data) > 0 && decode(c, &r) == nil && s.node.Fits(r.On) {
		slot = r.doc(id).Slot()
	}
	delete(f.spread, id)
	if !slot.Gone && len(r.On) > 0 && (len(r.On) > 1 || r.On[0] != s.node.Name) {
		key := strings.Join(r.On, " ")
		if f.words[key] == nil {
			f.words[key] = r.On
		}
		f.spread[id] = f.words[key]
	}
	was, known := f.known[id]
	if known && (slot.Gone || !was.Same(slot)) {
		gone := was
		gone.Gone = true
		f.seen = append(f.seen, gone)
		delete(f.known, id)
	}
	if !slot.Gone {
		f.known[id] = slot
		f.seen = append(f.seen, slot)
	}
	if f.whole {
		f.seen = nil
	}
}

// Changed receives after changes.
func (f *follower) Changed() <-chan struct{} { return f.changed }

// Take returns the places of the tasks that have changed.
func (f *follower) Take(ctx context.Context) (iter.Seq[state.Slot], bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	slots, whole := f.seen, f.whole
	if f.drained {
		slots = nil
	} else if whole {
		for _, slot := range f.known {
			slots = append(slots, slot)
		}
	}
	f.seen, f.whole = nil, false
	return slices.Values(slots), whole, nil
}
