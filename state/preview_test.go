package state_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// TestPreview: a dry run is answered as the call in earnest would be, and leaves everything as it
// was.
func TestPreview(t *testing.T) {
	ctx, now := t.Context(), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	st := memory.New()
	add := func(key string) state.Entry {
		e, err := st.Add(ctx, state.Task{Key: key, Text: "tea", Created: now, When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC"}}, now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	kept, ran := add("kept"), add("")
	self := state.Ident{PID: 1, Start: 1}
	done, err := st.Claim(ctx, ran.Task.ID, ran.Due, time.Time{}, self, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.End(ctx, done, state.Line{At: now, Outcome: state.OK, Count: 1, Inbox: "message"}); err != nil {
		t.Fatal(err)
	}
	manual, err := st.Fire(ctx, kept.Task.ID, self, now)
	if err != nil {
		t.Fatal(err)
	}
	type sight struct {
		all   []state.Entry
		items []state.Item
		open  []state.Record
	}
	look := func() (s sight) {
		var errs [3]error
		s.all, _, errs[0] = state.All(ctx, st)
		s.items, _, _, errs[1] = st.Inbox(ctx, state.Query{})
		s.open, _, errs[2] = st.Open(ctx)
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := look()
	if len(before.items) != 1 || len(before.open) != 1 || len(before.all) != 2 {
		t.Fatalf("there is %+v", before)
	}
	item := before.items[0].ID

	p := state.Preview(st)
	is := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	draft := state.Task{Key: "new", Text: "tea", Created: now, When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC"}}
	_, err = p.Add(ctx, draft, now.Add(time.Hour))
	is("add", err, nil)
	_, err = p.Add(ctx, draft, now.Add(time.Hour))
	is("add of a key that an earlier draft would have", err, state.ErrKept)
	_, err = p.Remove(ctx, kept.Task.ID, now)
	is("remove", err, nil)
	_, err = p.Remove(ctx, ran.Task.ID, now)
	is("remove of what has ended", err, state.ErrEnded)
	_, err = p.Pause(ctx, kept.Task.ID, time.Time{}, now)
	is("pause", err, nil)
	is("halt", p.Halt(ctx, manual, "stopped"), nil)
	is("halt of what has ended", p.Halt(ctx, done, "stopped"), state.ErrEnded)
	if open, _, err := p.Open(ctx); err != nil || len(open) != 0 {
		t.Errorf("after halt %v are open: %v", open, err)
	}
	if items, _, _, err := p.Take(ctx, state.Query{}, now, now.Add(time.Minute)); err != nil || len(items) != 1 {
		t.Errorf("take: %v, %v", items, err)
	}
	errs := p.Ack(ctx, []string{item, "zzzz/1"})
	is("ack", errs[0], nil)
	is("ack of what is not there", errs[1], state.ErrNotFound)
	is("claim", func() error {
		_, err := p.Claim(ctx, kept.Task.ID, kept.Due, time.Time{}, self, now)
		return err
	}(), nil)
	is("end", p.End(context.WithoutCancel(ctx), manual, state.Line{At: now, Outcome: state.OK, Count: 1}), nil)

	if after := look(); !reflect.DeepEqual(before, after) {
		t.Errorf("it was %+v, and is %+v", before, after)
	}
}

// TestDryRepeated: a store that has changed while it answered a dry run begins the answer anew, and nothing of the first one counts.
func TestDryRepeated(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	dry := state.Dry(func(ctx context.Context, _ state.Planned, do func(state.Transaction) error) error {
		return errors.Join(do(empty{}), do(empty{}))
	})
	draft := state.Draft{Task: state.Task{Key: "k", Text: "tea", Created: now, When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC"}}, Due: now.Add(time.Hour)}
	answers := dry.AddAll(t.Context(), []state.Draft{draft, draft})
	if answers[0].Err != nil || !errors.Is(answers[1].Err, state.ErrKept) {
		t.Errorf("%v, %v", answers[0].Err, answers[1].Err)
	}
	if _, err := dry.Add(t.Context(), draft.Task, draft.Due); !errors.Is(err, state.ErrKept) {
		t.Errorf("later: %v", err)
	}
}

// empty is a transaction of a store without tasks.
type empty struct{}

func (empty) Load(state.Change) (state.Doc, error)         { return state.Doc{}, state.ErrNotFound }
func (empty) Holder(string) (state.Doc, bool, error)       { return state.Doc{}, false, nil }
func (empty) Admit(*state.Doc, state.Doc, time.Time) error { return nil }
func (empty) NextID() string                               { return state.ID(0) }
func (empty) Charge(string, time.Time) error               { return nil }
func (empty) Put(_ *state.Doc, d state.Doc, _ []state.Line, _ state.Change) (state.Doc, error) {
	return d, nil
}
