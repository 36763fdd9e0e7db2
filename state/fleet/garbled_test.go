package fleet_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// TestGarbledCells damages one cell of each kind, as a version to come could write it: it is left out and reported, and nothing else suffers.
func TestGarbledCells(t *testing.T) {
	words := func(id string) string { return strings.Join(strings.Split(id, ""), ".") }
	for _, c := range []struct {
		what string
		data string // instead of what is there
		key  func(s *stage) string
	}{
		{"a task", "[1]", func(s *stage) string { return "s." + words(s.claimed.Task.ID) }},
		{"the text of a task", "[1]", func(s *stage) string { return "t." + s.claimed.Task.ID + ".1" }},
		{"an item", "[1]", func(s *stage) string { return "i." + strings.ReplaceAll(s.item, "/", ".") }},
		{"an item, with other words", `{"number":1}`, func(s *stage) string { return "i." + strings.ReplaceAll(s.item, "/", ".") }},
		{"a notice", "[1]", func(s *stage) string { key, _, _ := strings.Cut(s.notice.Place, " "); return key }},
		{"a heartbeat", "[1]", func(*stage) string { return "h.x" }},
		{"a line of the ledger", "[1]", func(s *stage) string { return "l." + s.ends }},
	} {
		t.Run(c.what, func(t *testing.T) {
			ctx := t.Context()
			s := setStage(ctx)
			s.Store = fleet.New(s.kv, fleet.Options{Local: s.Local, Node: state.Node{Name: "n"}}) // one that has nothing cached
			key := c.key(s)
			if key != "h.x" {
				if was := must(s.kv.Get(ctx, key)); len(was.Data) == 0 {
					t.Fatalf("%s is not there", key)
				}
			}
			if err := s.kv.Commit(ctx, []fleet.Op{{Cell: fleet.Cell{Key: key, Rev: fleet.Any, Data: []byte(c.data)}}}); err != nil {
				t.Fatal(err)
			}
			var told []string
			count := func(what string, n, want int, problems []state.Problem, err error) {
				t.Helper()
				for _, p := range problems {
					told = append(told, p.Path)
				}
				missing := 0
				if len(problems) > 0 {
					missing = 1
				}
				if err != nil || n != want-missing {
					t.Errorf("%s: %d of %d, %v, %v", what, n, want, problems, err)
				}
			}
			tasks, problems, err := state.All(ctx, s)
			count("tasks", len(tasks), len(s.old), problems, err)
			open, problems, err := s.Open(ctx)
			count("claims", len(open), 3, problems, err)
			items, _, problems, err := s.Inbox(ctx, state.Query{})
			count("items", len(items), 1, problems, err)
			taken, _, problems, err := s.Take(ctx, state.Query{}, late, late.Add(time.Hour))
			count("items to take", len(taken), 1, problems, err)
			notices, _, problems, err := s.Outbox(ctx, late.Add(time.Hour), 0)
			count("notices", len(notices), 1, problems, err)
			if _, err := s.Halted(ctx); err != nil {
				t.Error("what is to be ended:", err)
			}
			if _, err := s.Runners(ctx); err != nil {
				t.Error("runners:", err)
			}
			_, problems, err = s.Log(ctx, "", func(state.Line) bool { return true })
			for _, p := range problems {
				told = append(told, p.Path)
			}
			if err != nil || key != "h.x" && len(told) == 0 {
				t.Errorf("nobody was told of %s: %v", key, err)
			}
			if i := slices.IndexFunc(tasks, func(e state.Entry) bool { return e.Task.ID == s.recurs }); i < 0 {
				t.Errorf("another task is not listed")
			} else if err := s.End(ctx, must(s.Claim(ctx, s.recurs, late, late.Add(time.Hour), self, late)), state.Line{At: late, Outcome: state.OK}); err != nil {
				t.Error("another task:", err)
			}
		})
	}
}

// TestGarbledHeartbeats: a runner whose heartbeats cannot be read, as those of a newer version, lives. What it has is not taken over, and its notices are its own.
func TestGarbledHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, kv := t.Context(), model.New()
		a, b := newMachine(t, kv, "b"), newMachine(t, kv, "a") // the first by name is not the one with the notices
		e, told := ran(t, a, "tea\n"), ran(t, a, "tea\n")
		told.Line.Tell, told.Line.News = []string{"webhook"}, state.NewsOutput
		if err := a.End(ctx, told.Record, told.Line); err != nil {
			t.Fatal(err)
		}
		a.cable.cut.Store(true)
		var key string
		if _, err := kv.Prefix(ctx, "h.", 0, func(c fleet.Cell) bool {
			if strings.Contains(string(c.Data), `"name":"b"`) {
				key = c.Key
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		took := e.Record
		took.Runner = b.ident()
		late := fleet.New(kv, fleet.Options{Local: memory.New(), Node: state.Node{Name: "c"}}) // has never heard another
		const beats = 60                                                                       // five minutes
		for beat := 0; beat < beats && !t.Failed(); beat++ {
			data := []string{"[1]", "{}"}[beat%2] // the last one is the second
			if err := kv.Commit(ctx, []fleet.Op{{Cell: fleet.Cell{Key: key, Rev: fleet.Any, Data: []byte(data)}, TTL: 20 * time.Second}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
			for _, s := range []*fleet.Store{b.Store, late} {
				if yes, err := s.Leased(ctx, "b", true); !yes || err != nil {
					t.Errorf("it is dead for %s after heartbeat %d: %v", s.Here().Name, beat, err)
				}
			}
		}
		if err := b.Note(ctx, took); !errors.Is(err, state.ErrTaken) {
			t.Errorf("its run is taken over: %v", err)
		}
		if due, _, _, err := b.Outbox(ctx, time.Now().Add(time.Hour), 0); err != nil || len(due) > 0 {
			t.Errorf("another delivers %v: %v", due, err)
		}
		time.Sleep(21*time.Second + state.LostAfter)
		if yes, err := b.Leased(ctx, "b", true); yes || err != nil {
			t.Errorf("it lives without a heartbeat: %v", err)
		}
		if err := b.Note(ctx, took); err != nil {
			t.Errorf("its run is not taken over: %v", err)
		}
		if err := errors.Join(a.lease.Release(), b.lease.Release()); err != nil {
			t.Log(err)
		}
	})
}

// TestPruneBesideGarbled: a line that cannot be read is dropped with the next one that is old enough, and otherwise stays for who can read it.
func TestPruneBesideGarbled(t *testing.T) {
	ctx, kv := t.Context(), model.New()
	s := fleet.New(kv, fleet.Options{Local: memory.New()})
	garble := func() {
		if err := kv.Commit(ctx, []fleet.Op{{Cell: fleet.Cell{Key: "l.aaaa", Rev: fleet.Any, Data: []byte("[1]")}, Append: true}}); err != nil {
			t.Fatal(err)
		}
	}
	created(ctx, s, 1)
	garble()
	created(ctx, s, 3) // the first of them is of the same minute, the others are later
	garble()
	read := func() (lines, problems int) {
		_, list, err := s.Log(ctx, "", func(state.Line) bool { lines++; return true })
		if err != nil {
			t.Fatal(err)
		}
		return lines, len(list)
	}
	for _, c := range []struct {
		age                           time.Duration
		dropped, gone, left, problems int
	}{
		{time.Minute, 3, 2, 2, 1},
		{time.Minute, 0, 2, 2, 1},
		{time.Hour, 2, 4, 0, 1},
	} {
		p, err := s.Prune(ctx, state.Keep{Ended: time.Hour}, start.Add(time.Hour+c.age))
		if err != nil || p.Lines != c.dropped {
			t.Errorf("%d lines are dropped: %v", p.Lines, err)
		}
		gone, _, err := s.Gone(ctx)
		if lines, problems := read(); err != nil || gone.Lines != c.gone || lines != c.left || problems != c.problems {
			t.Errorf("%d lines are counted, %d are left, and %d cannot be read: %v", gone.Lines, lines, problems, err)
		}
	}
}

// TestLimitBesideGarbled: a task that cannot be read counts for the limit of its origin, and does not keep those that have ended from leaving room.
func TestLimitBesideGarbled(t *testing.T) {
	ctx, kv := t.Context(), model.New()
	s := fleet.New(kv, fleet.Options{Local: memory.New(), Limits: func() (state.Limits, error) { return state.Limits{Pending: 2}, nil }})
	add := func() (string, error) {
		e, err := s.Add(ctx, state.Task{Origin: state.ID(7), Created: start, Run: state.Job{Argv: []string{"true"}, Dir: "/", Umask: 0o22},
			When: state.Timing{Text: "in 1h", Kind: "once", Zone: "UTC", Start: start}}, late)
		return e.Task.ID, err
	}
	damaged, ends := must(add()), must(add())
	key := "s." + strings.Join(strings.Split(damaged, ""), ".")
	if err := kv.Commit(ctx, []fleet.Op{{Cell: fleet.Cell{Key: key, Rev: fleet.Any, Data: []byte("[1]")}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := add(); !errors.Is(err, state.ErrLimit) {
		t.Errorf("a third: %v", err)
	}
	must(s.Remove(ctx, ends, start))
	if _, err := add(); err != nil {
		t.Errorf("in the place of the second: %v", err)
	}
	if _, err := add(); !errors.Is(err, state.ErrLimit) {
		t.Errorf("one more: %v", err)
	}
}
