package runner

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// shared is a store that runners of several machines share, and how this one stands with them.
type shared struct {
	state.Store
	steward bool
	contact atomic.Pointer[state.Contact]
	rank    atomic.Int32
	away    atomic.Bool // the servers answer nothing
}

func (s *shared) Started(ctx context.Context, r state.Record) error {
	if s.away.Load() {
		return state.ErrUnusable
	}
	return s.Store.Started(ctx, r)
}

func (s *shared) Apply(ctx context.Context, changes ...state.Change) []state.Applied {
	if s.away.Load() {
		answers := make([]state.Applied, len(changes))
		for i := range answers {
			answers[i].Err = state.ErrUnusable
		}
		return answers
	}
	return s.Store.Apply(ctx, changes...)
}

func (s *shared) Contact() state.Contact                                   { return *s.contact.Load() }
func (s *shared) Here() state.Node                                         { return state.Node{Name: "a"} }
func (s *shared) Living(context.Context) ([]state.Node, error)             { return nil, nil }
func (s *shared) Steward(context.Context) (bool, error)                    { return s.steward, nil }
func (s *shared) Leaders(context.Context) (map[string]state.Leader, error) { return nil, nil }
func (s *shared) MayLead(context.Context) (bool, error)                    { return true, nil }
func (s *shared) Twin(context.Context) (state.Leader, bool, error)         { return state.Leader{}, false, nil }
func (s *shared) Homeless(context.Context) ([]string, error)               { return nil, nil }
func (s *shared) Rank(string, time.Time) int                               { return int(s.rank.Load()) }
func (s *shared) stands(silent, ahead time.Duration) {
	s.contact.Store(&state.Contact{Silent: silent, Ahead: ahead})
}

// inFleet runs a loop on a store that is shared.
func inFleet(t *testing.T, test func(t *testing.T, w *world, s *shared)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		s := &shared{Store: w.store}
		s.stands(0, 0)
		w.o.Store = s
		test(t, w, s)
	})
}

func start(t *testing.T, w *world) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- Run(ctx, w.o) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestCutOffRunnerStartsNothing, nor does one whose clock is off.
func TestCutOffRunnerStartsNothing(t *testing.T) {
	inFleet(t, func(t *testing.T, w *world, s *shared) {
		var warned atomic.Int32
		w.o.Warn = func(string, ...any) { warned.Add(1) }
		w.add(t, "once", 10*time.Second, "true")
		w.add(t, "once", 70*time.Second, "true")
		w.add(t, "once", 130*time.Second, "true")
		end := start(t, w)
		s.stands(state.CutOff+1, 0)
		time.Sleep(30*time.Second + 500*time.Millisecond) // between two looks
		s.stands(0, 2*time.Second)                        // odd, and no more
		time.Sleep(30 * time.Second)
		s.stands(0, -6*time.Second)
		time.Sleep(30 * time.Second)
		s.stands(0, 0)
		time.Sleep(time.Minute)
		if got, want := fmt.Sprint(w.cmds.starts()), "[m001/1@31s m002/1@1m30.95s m003/1@2m10s]"; got != want {
			t.Errorf("started %s, want %s", got, want)
		}
		if n := warned.Load(); n != 3 {
			t.Errorf("warned %d times", n)
		}
		end()
	})
}

// TestRunnerWithoutItsNameStartsNothing, until it has its name again.
func TestRunnerWithoutItsNameStartsNothing(t *testing.T) {
	inFleet(t, func(t *testing.T, w *world, s *shared) {
		var warned atomic.Int32
		w.o.Warn = func(string, ...any) { warned.Add(1) }
		w.add(t, "once", 10*time.Second, "true")
		end := start(t, w)
		s.contact.Store(&state.Contact{Twin: true})
		time.Sleep(30*time.Second + 500*time.Millisecond)
		s.stands(0, 0)
		time.Sleep(30 * time.Second)
		if got, want := fmt.Sprint(w.cmds.starts()), "[m001/1@31s]"; got != want || warned.Load() != 1 {
			t.Errorf("started %s, want %s; warned %d times", got, want, warned.Load())
		}
		end()
	})
}

// TestClaimIsDecidedAnew: what was claimed just before the servers were away is not begun when they are back unless it would be claimed then, too.
func TestClaimIsDecidedAnew(t *testing.T) {
	for _, c := range []struct {
		name   string
		text   string
		policy state.Policy
		starts string
		want   string
	}{
		{"the latest instant runs", "every 10s", state.Policy{}, "[m001/5@52.69s m001/6@1m0s]", "[missed:coalesced ok ok]"},
		{"or all of them", "every 10s", state.Policy{Catchup: state.CatchupAll}, "[m001/1@52.69s m001/2@52.69s m001/3@52.69s m001/4@52.69s m001/5@52.69s m001/6@1m0s]", "[ok ok ok ok ok ok]"},
		{"or none, when it is too late", "every 1h", state.Policy{Window: "30s"}, "[]", "[missed:window]"},
		{"a one-shot runs late", "once", state.Policy{}, "[m001/1@52.69s]", "[ok]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFleet(t, func(t *testing.T, w *world, s *shared) {
				task := state.Task{Created: time.Now(), Run: state.Job{Argv: []string{"true"}}, Policy: c.policy,
					When: state.Timing{Text: c.text, Kind: "interval", Zone: "UTC", Start: time.Now()}}
				if c.text == "once" {
					task.When.Kind = "once"
				}
				if _, err := w.store.Add(t.Context(), task, time.Now().Add(10*time.Second)); err != nil {
					t.Fatal(err)
				}
				end := start(t, w)
				time.Sleep(10*time.Second - claimAhead/2)
				s.away.Store(true)
				time.Sleep(41 * time.Second)
				s.away.Store(false)
				time.Sleep(11 * time.Second)
				end()
				if got := fmt.Sprint(w.cmds.starts()); got != c.starts {
					t.Errorf("started %s, want %s", got, c.starts)
				}
				if got := fmt.Sprint(w.outcomes(t)); got != c.want {
					t.Errorf("outcomes %s, want %s", got, c.want)
				}
			})
		})
	}
}

// TestCutOffRunnerEndsWhatOthersMayStart, and no more than that.
func TestCutOffRunnerEndsWhatOthersMayStart(t *testing.T) {
	inFleet(t, func(t *testing.T, w *world, s *shared) {
		w.cmds.takes = 10 * time.Minute
		for i, on := range [][]string{{"a"}, {state.AnyNode}, {"gpu"}, {state.AnyNode}} {
			task := state.Task{Created: time.Now(), When: state.Timing{Text: "once", Kind: "once", Zone: "UTC", Start: time.Now()}, On: on,
				Run: state.Job{Argv: []string{"true"}}, Policy: state.Policy{Rerun: i == 3}}
			if _, err := w.store.Add(t.Context(), task, time.Now().Add(time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		end := start(t, w)
		time.Sleep(time.Minute)
		s.stands(endsAfter, 0)
		time.Sleep(10 * time.Second)
		if got := fmt.Sprint(w.outcomes(t)); got != "[]" {
			t.Errorf("ended already: %s", got)
		}
		s.stands(endsAfter+1, 0)
		time.Sleep(20 * time.Second)
		if got, want := fmt.Sprint(w.outcomes(t)), "[interrupted:cut_off interrupted:cut_off]"; got != want {
			t.Errorf("outcomes %s, want %s", got, want)
		}
		s.stands(0, 0)
		time.Sleep(30 * time.Second)
		if n := len(w.cmds.starts()); n != 5 {
			t.Errorf("what is to run again does not: %v", w.cmds.starts())
		}
		time.Sleep(20 * time.Minute)
		if got, want := fmt.Sprint(w.outcomes(t)), "[interrupted:cut_off interrupted:cut_off ok ok]"; got != want {
			t.Errorf("outcomes %s, want %s", got, want)
		}
		end()
	})
}

// TestUnbegunClaimsOfAnotherMachine are given back where what is begun is noted for good.
func TestUnbegunClaimsOfAnotherMachine(t *testing.T) {
	inFleet(t, func(t *testing.T, w *world, s *shared) {
		e := w.add(t, "once", time.Second, "true")
		time.Sleep(time.Second)
		if _, err := w.store.Claim(t.Context(), e.Task.ID, e.Due, time.Time{}, state.Ident{PID: 7, Boot: "other", Node: "b"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.o.Self.Node = "a"
		end := start(t, w)
		time.Sleep(time.Minute)
		if got, want := fmt.Sprint(w.outcomes(t)), "[ok]"; got != want {
			t.Errorf("outcomes %s, want %s", got, want)
		}
		end()
	})
}

// TestTurns: a machine tries as much later as there are others before it; what is late is tried at once.
func TestTurns(t *testing.T) {
	for _, c := range []struct {
		name string
		rank int32
		due  time.Duration // from the start of the runner
		want string
	}{
		{"the first claims ahead", 0, 10 * time.Second, "[m001/1@10s]"},
		{"the second just after", 1, 10 * time.Second, "[m001/1@10.01s]"},
		{"the third", 2, 10 * time.Second, "[m001/1@10.07s]"},
		{"of very many", 1000, 10 * time.Second, "[m001/1@10.85s]"},
		{"late by less than its turn", 2, -10 * time.Millisecond, "[m001/1@60ms]"},
		{"late by more", 1, -time.Second, "[m001/1@0s]"},
		{"late by more than any turn", 1000, -time.Second, "[m001/1@0s]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFleet(t, func(t *testing.T, w *world, s *shared) {
				s.rank.Store(c.rank)
				w.add(t, "once", c.due, "true")
				end := start(t, w)
				time.Sleep(time.Minute)
				if got := fmt.Sprint(w.cmds.starts()); got != c.want {
					t.Errorf("started %s, want %s", got, c.want)
				}
				end()
			})
		})
	}
}
