package fleet_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
)

// ran has a run of a task on a machine come to its end, which has written something, and returns what is to be told of it.
func ran(t *testing.T, m *machine, wrote string) state.Ending {
	t.Helper()
	now := time.Now()
	e, err := m.Add(t.Context(), state.Task{Created: now, When: state.Timing{Text: "in 1s", Kind: "once", Zone: "UTC", Start: now}, Run: state.Job{Argv: []string{"true"}, Dir: "/"}}, now)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Claim(t.Context(), e.Task.ID, e.Due, time.Time{}, m.ident(), now)
	if err != nil {
		t.Fatal(err)
	}
	r.Starting, r.Started = now, now
	if err := m.Started(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	stdout, _ := m.Output(e.Task.ID, r.Number)
	f, err := stdout.Create(t.Context())
	if err == nil {
		_, err = f.WriteString(wrote)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return state.Ending{Record: r, Line: state.Line{At: now, Started: &now, Outcome: state.OK, Stdout: state.Output{Bytes: int64(len(wrote))}}}
}

func wrote(t *testing.T, m *machine, r state.Record) string {
	t.Helper()
	stdout, _ := m.Output(r.Task.ID, r.Number)
	f, err := stdout.Open(t.Context())
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestOutputElsewhere: what a run has written can be read on every machine once it has ended.
func TestOutputElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := model.New()
		a, b := newMachine(t, kv, "a"), newMachine(t, kv, "b")
		e := ran(t, a, "tea\n")
		if got := wrote(t, b, e.Record); !strings.Contains(got, "no such file") && !strings.Contains(got, "not exist") {
			t.Errorf("b reads %q of what goes on on a", got)
		}
		if err := a.End(t.Context(), e.Record, e.Line); err != nil {
			t.Fatal(err)
		}
		for _, m := range []*machine{a, b} {
			if got := wrote(t, m, e.Record); got != "tea\n" {
				t.Errorf("%s reads %q", m.Here().Name, got)
			}
		}
		if err := errors.Join(a.lease.Release(), b.lease.Release()); err != nil {
			t.Error(err)
		}
	})
}

// kept are the names of the texts that a machine keeps for the servers.
func kept(t *testing.T, local fleet.Local) (names []string, err error) {
	err = local.Spooled(t.Context(), func(name, _ string) error { names = append(names, name); return nil })
	return names, err
}

// TestSpool: an outcome that could not be told is told by the next runner of the machine, unless others have ended the claim meanwhile.
func TestSpool(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			kv := model.New()
			a, b := newMachine(t, kv, "a"), newMachine(t, kv, "b")
			e := ran(t, a, "tea\n")
			a.cable.cut.Store(true)
			for range 2 { // it tries again
				if err := a.End(t.Context(), e.Record, e.Line); !errors.Is(err, state.ErrUnusable) {
					t.Fatalf("away from the servers: %v", err)
				}
			}
			if list, err := kept(t, a.local); len(list) != 1 || err != nil {
				t.Fatalf("kept: %v, %v", list, err)
			}
			if err := a.lease.Release(); err != nil {
				t.Fatal(err)
			}
			want := state.OK
			if late {
				want = state.Interrupted
				if err := b.End(t.Context(), e.Record, state.Line{At: time.Now(), Outcome: want}); err != nil {
					t.Fatal(err)
				}
			}
			next := fleet.New(kv, fleet.Options{Local: a.local, Node: a.Here()})
			lease, err := next.Lead(t.Context(), state.Leader{Ident: state.Ident{Node: "a", Boot: "a", PID: 2}})
			if err != nil {
				t.Fatal(err)
			}
			var lines []state.Line
			if _, _, err := b.Log(t.Context(), e.Record.Task.ID, func(l state.Line) bool { lines = append(lines, l); return l.Outcome == "" }); err != nil {
				t.Fatal(err)
			}
			if len(lines) == 0 || lines[len(lines)-1].Outcome != want {
				t.Errorf("late %v: the ledger says %+v", late, lines)
			}
			if list, err := kept(t, a.local); len(list) != 0 || err != nil {
				t.Errorf("still kept: %v, %v", list, err)
			}
			if got := wrote(t, b, e.Record); !late && got != "tea\n" {
				t.Errorf("b reads %q", got)
			}
			if err := errors.Join(lease.Release(), b.lease.Release()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSpoolKnowsTheTally: who is told of an outcome that could not be told is decided from what was known of the task: that it failed before.
func TestSpoolKnowsTheTally(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := model.New()
		a := newMachine(t, kv, "a")
		now := time.Now()
		e, err := a.Add(t.Context(), state.Task{Created: now, When: state.Timing{Text: "every 1m", Kind: "interval", Zone: "UTC", Start: now}, Run: state.Job{Argv: []string{"true"}, Dir: "/"}}, now)
		if err != nil {
			t.Fatal(err)
		}
		claim := func(due time.Time) state.Record {
			r, err := a.Claim(t.Context(), e.Task.ID, due, due.Add(time.Minute), a.ident(), due)
			if err == nil {
				r.Starting, r.Started = due, due
				err = a.Started(t.Context(), r)
			}
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		look := func() error { _, _, err := a.Open(t.Context()); return err } // as a runner does after each change
		if err := errors.Join(look(), a.End(t.Context(), claim(now), state.Line{At: now, Started: &now, Outcome: state.Failed}), look()); err != nil {
			t.Fatal(err)
		}
		again := claim(now.Add(time.Minute))
		if err := look(); err != nil {
			t.Fatal(err)
		}
		a.cable.cut.Store(true)
		for range 3 {
			if look() == nil {
				t.Fatal("there is an answer")
			}
		}
		end := state.Ending{Record: again, Line: state.Line{At: now, Started: &now, Outcome: state.OK}, Tell: func(before state.Tally, l *state.Line) {
			if before.Failing {
				l.News, l.Tell = state.NewsRecovery, []string{"me"}
			}
		}}
		if err := a.EndAll(t.Context(), []state.Ending{end})[0]; !errors.Is(err, state.ErrUnusable) {
			t.Fatalf("away from the servers: %v", err)
		}
		if err := a.lease.Release(); err != nil {
			t.Fatal(err)
		}
		next := fleet.New(kv, fleet.Options{Local: a.local, Node: a.Here()})
		lease, err := next.Lead(t.Context(), state.Leader{Ident: state.Ident{Node: "a", Boot: "a", PID: 2}})
		if err != nil {
			t.Fatal(err)
		}
		var last state.Line
		if _, _, err := next.Log(t.Context(), e.Task.ID, func(l state.Line) bool { last = l; return false }); err != nil {
			t.Fatal(err)
		}
		if last.Outcome != state.OK || last.News != state.NewsRecovery || !slices.Equal(last.Tell, []string{"me"}) {
			t.Errorf("the ledger says %+v", last)
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	})
}

// TestSpoolTells: what is told of an outcome that the next runner tells depends on the ends before it, as of any other.
func TestSpoolTells(t *testing.T) {
	tell := func(before state.Tally, l *state.Line) {
		l.Inbox, l.Tell = state.ItemResult, append(l.Tell, "webhook")
		switch {
		case before.Failing:
			l.News = state.NewsRecovery
		case before.Output != "" && before.Output != l.StdoutSum:
			l.News = state.NewsChange
		default:
			l.News = state.NewsOutput
		}
	}
	for _, c := range []struct {
		before state.Line
		want   string
	}{
		{state.Line{}, state.NewsOutput},
		{state.Line{Outcome: state.OK, StdoutSum: "tea"}, state.NewsOutput},
		{state.Line{Outcome: state.OK, StdoutSum: "milk"}, state.NewsChange},
		{state.Line{Outcome: state.Failed, StdoutSum: "milk"}, state.NewsRecovery},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, now, kv := t.Context(), time.Now(), model.New()
			a := newMachine(t, kv, "a")
			id := hourly(t, a, now, 1)[0]
			claim := func(i int) state.Record {
				due := now.Add(time.Duration(i) * time.Hour)
				return must(a.Claim(ctx, id, due, due.Add(time.Hour), a.ident(), due))
			}
			first, second := claim(0), claim(1)
			e := state.Ending{Record: second, Line: state.Line{At: now, Outcome: state.OK, StdoutSum: "tea"}, Tell: tell}
			a.cable.cut.Store(true)
			if err := a.EndAll(ctx, []state.Ending{e})[0]; !errors.Is(err, state.ErrUnusable) {
				t.Fatal("away from the servers:", err)
			}
			_ = a.lease.Release()
			next := fleet.New(kv, fleet.Options{Local: a.local, Node: a.Here()})
			if c.before.At = now; c.before.Outcome != "" { // it ended later than the other, and is told first
				if err := next.End(ctx, first, c.before); err != nil {
					t.Fatal(err)
				}
			}
			l, err := next.Lead(ctx, state.Leader{Ident: state.Ident{Node: "a", Boot: "a", PID: 2}})
			if err != nil {
				t.Fatal(err)
			}
			var got state.Line
			if _, _, err := next.Log(ctx, id, func(l state.Line) bool { got = l; return false }); err != nil {
				t.Fatal(err)
			}
			if got.News != c.want || got.Inbox != state.ItemResult || !slices.Equal(got.Tell, []string{"webhook"}) || got.StdoutSum != "tea" {
				t.Errorf("after %+v, it tells %q", c.before, got.News)
			}
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}
