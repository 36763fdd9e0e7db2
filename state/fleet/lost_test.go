package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/state/storetest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

var (
	start = time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	late  = start.Add(time.Hour)
	self  = state.Ident{Node: "n", Boot: "b", PID: 1}
)

// stage is a fleet on a model with a task of each kind.
type stage struct {
	*fleet.Store
	kv                          *model.KV
	waits, recurs, paused, ends string
	claimed, starting, next     state.Record
	item                        string
	notice                      state.Notice
	old                         []string // all of its tasks
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func setStage(ctx context.Context) *stage {
	s := &stage{kv: model.New()}
	s.Store = fleet.New(s.kv, fleet.Options{Local: memory.New(), Node: state.Node{Name: "n"}, Limits: func() (state.Limits, error) {
		return state.Limits{Tasks: 100, Pending: 10, PerHour: 10}, nil
	}})
	add := func(text, key, origin string) string {
		t := state.Task{Description: text, Key: key, Origin: origin, Created: start, On: []string{state.AnyNode}, Run: state.Job{Argv: []string{"true"}, Dir: "/", Umask: 0o22},
			When: state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: start}}
		id := must(s.Add(ctx, t, late)).Task.ID
		s.old = append(s.old, id)
		return id
	}
	claim := func(id string) state.Record {
		return must(s.Claim(ctx, id, late, late.Add(time.Hour), self, late))
	}
	s.waits, s.recurs = add("waits", "key", ""), add("recurs", "", "")
	s.paused, s.ends = add("paused", "", s.waits), add("ends", "", "")
	must(s.Pause(ctx, s.paused, time.Time{}, start))
	s.claimed, s.starting, s.next = claim(add("claimed", "", "")), claim(add("starting", "", "")), claim(add("next", "", ""))
	s.starting.Starting = late
	if err := s.Started(ctx, s.starting); err != nil {
		panic(err)
	}
	mail := claim(s.ends)
	l := state.Line{At: late, Outcome: state.Failed, Inbox: state.ItemFailure, Tell: []string{"webhook"}, News: state.NewsFailure, Reason: "exit 1"}
	if err := s.End(ctx, mail, l); err != nil {
		panic(err)
	}
	must(s.Remove(ctx, s.ends, late))
	s.item = state.OccurrenceID(mail.Task.ID, mail.Number)
	due, _, _, err := s.Outbox(ctx, late, 0)
	s.notice = must(due, err)[0]
	return s
}

// operations are what stores do that writes, each on the tasks of a stage; it returns what it answers.
var operations = map[string]func(ctx context.Context, s *stage) (any, error){
	"add": func(ctx context.Context, s *stage) (any, error) {
		t := must(s.Find(ctx, s.waits))[0].Task
		t.ID, t.Key, t.Revision, t.Origin = "", "another", 0, s.recurs
		e, err := s.Add(ctx, t, late)
		return e.Due, err
	},
	"add with a key": func(ctx context.Context, s *stage) (any, error) {
		t := must(s.Find(ctx, s.waits))[0].Task
		t.ID, t.Revision = "", 0
		if e, err := s.Add(ctx, t, late); !errors.Is(err, state.ErrKept) {
			return nil, fmt.Errorf("added %v, %w", e.Task.ID, err)
		}
		return nil, nil
	},
	"add many": func(ctx context.Context, s *stage) (any, error) {
		t := must(s.Find(ctx, s.recurs))[0].Task
		t.ID, t.Revision = "", 0
		var err error
		for _, a := range s.AddAll(ctx, make3(state.Draft{Task: t, Due: late})) {
			err = errors.Join(err, a.Err)
		}
		return nil, err
	},
	"update": func(ctx context.Context, s *stage) (any, error) {
		t := must(s.Find(ctx, s.waits))[0].Task
		t.Description += "!"
		e, err := s.Update(ctx, t, late.Add(time.Hour), start, nil)
		return e.Task.Revision, err
	},
	"pause": func(ctx context.Context, s *stage) (any, error) {
		_, err := s.Pause(ctx, s.waits, late, start)
		return nil, err
	},
	"resume": func(ctx context.Context, s *stage) (any, error) {
		_, err := s.Resume(ctx, s.paused, start)
		return nil, err
	},
	"remove": func(ctx context.Context, s *stage) (any, error) {
		_, err := s.Remove(ctx, s.recurs, start)
		return nil, err
	},
	"restore": func(ctx context.Context, s *stage) (any, error) {
		_, err := s.Restore(ctx, s.ends, late.Add(2*time.Hour), late)
		return nil, err
	},
	"finish": func(ctx context.Context, s *stage) (any, error) { return nil, s.Finish(ctx, s.waits, "done", start) },
	"move": func(ctx context.Context, s *stage) (any, error) {
		return nil, s.Move(ctx, s.waits, late, late.Add(time.Minute), start)
	},
	"skip": func(ctx context.Context, s *stage) (any, error) {
		return nil, s.Skip(ctx, s.recurs, late, late.Add(time.Hour), state.Line{At: late, Outcome: state.Skipped})
	},
	"fire": func(ctx context.Context, s *stage) (any, error) {
		r, err := s.Fire(ctx, s.recurs, self, start)
		return r.Number, err
	},
	"claim": func(ctx context.Context, s *stage) (any, error) {
		r, err := s.Claim(ctx, s.recurs, late, late.Add(time.Hour), self, late)
		return r.Number, err
	},
	"claim many": func(ctx context.Context, s *stage) (any, error) {
		all := storetest.ClaimAll(ctx, s, []storetest.Want{{ID: s.recurs, Due: late}, {ID: s.waits, Due: late}, {ID: s.paused, Due: late}}, self, late)
		return []int{all[0].Record.Number, all[1].Record.Number}, errors.Join(all[0].Err, all[1].Err)
	},
	"starting": func(ctx context.Context, s *stage) (any, error) {
		r := s.claimed
		r.Starting = late
		return nil, s.Started(ctx, r)
	},
	"started": func(ctx context.Context, s *stage) (any, error) {
		r := s.starting
		r.Started, r.Child = late, state.Ident{PID: 2}
		return nil, s.Started(ctx, r)
	},
	"note": func(ctx context.Context, s *stage) (any, error) {
		r := s.starting
		r.Attempt = 2
		return nil, s.Note(ctx, r)
	},
	"halt":    func(ctx context.Context, s *stage) (any, error) { return nil, s.Halt(ctx, s.starting, "stop") },
	"release": func(ctx context.Context, s *stage) (any, error) { return nil, s.Release(ctx, s.claimed) },
	"end": func(ctx context.Context, s *stage) (any, error) {
		return nil, s.End(ctx, s.starting, state.Line{At: late, Outcome: state.Failed, Inbox: state.ItemFailure, Tell: []string{"webhook"}, News: state.NewsFailure})
	},
	"end many": func(ctx context.Context, s *stage) (any, error) {
		l := state.Line{At: late, Outcome: state.OK}
		return nil, errors.Join(s.EndAll(ctx, []state.Ending{{Record: s.starting, Line: l}, {Record: s.claimed, Line: l}, {Record: s.next, Line: l}})...)
	},
	"take": func(ctx context.Context, s *stage) (any, error) {
		list, _, _, err := s.Take(ctx, state.Query{}, late, late.Add(time.Hour))
		return len(list), err
	},
	"ack": func(ctx context.Context, s *stage) (any, error) { return nil, s.Ack(ctx, []string{s.item})[0] },
	"postpone": func(ctx context.Context, s *stage) (any, error) {
		n := s.notice
		n.Due, n.Attempts = late.Add(time.Minute), 1
		return nil, s.Postpone(ctx, n)
	},
	"told": func(ctx context.Context, s *stage) (any, error) {
		return nil, s.Told(ctx, s.notice, state.Line{At: late, Type: state.LineDelivery, Outcome: state.OK})
	},
	"drain":  func(ctx context.Context, s *stage) (any, error) { return nil, s.Drain(ctx, "n", true) },
	"charge": func(ctx context.Context, s *stage) (any, error) { return nil, s.Charge(ctx, s.waits, start) },
	"lead": func(ctx context.Context, s *stage) (any, error) {
		l, err := s.Lead(ctx, state.Leader{Ident: self, Since: start})
		if err == nil {
			err = l.Release()
		}
		return nil, err
	},
	"prune": func(ctx context.Context, s *stage) (any, error) {
		return s.Prune(ctx, state.Keep{Ended: time.Hour, Items: 1}, late.Add(48*time.Hour))
	},
}

func make3(d state.Draft) []state.Draft { return []state.Draft{d, d, d} }

// grants are the random names of claims.
var grants = regexp.MustCompile(`"grant":"[A-Z2-7]+"`)

// dump is what the servers have, in words: keys and data, the ledger in its order. New tasks are
// called by their order, because a number may have been lost.
func (s *stage) dump(ctx context.Context) string {
	var all, news []string
	for _, of := range strings.Fields("t. s. e. l. k. g. i. x. n. h. d. w p") {
		var some []string
		_, err := s.kv.Prefix(ctx, of, 0, func(c fleet.Cell) bool {
			if id := strings.Split(c.Key+".", ".")[1]; of == "t." && !slices.Contains(s.old, id) && !slices.Contains(news, id) {
				news = append(news, id)
			}
			if len(c.Data) > 0 {
				line := c.Key + " " + grants.ReplaceAllString(string(c.Data), `"grant":"G"`)
				for i, id := range news {
					line = strings.NewReplacer(id, fmt.Sprint("NEW", i), strings.Join(strings.Split(id, ""), "."), fmt.Sprint("NEW", i)).Replace(line)
				}
				some = append(some, line)
			}
			return true
		})
		if err != nil {
			panic(err)
		}
		if of != "l." {
			slices.Sort(some)
		}
		all = append(all, some...)
	}
	return strings.Join(all, "\n")
}

// played is one operation on a new stage, where some of its requests have fates: what it answers, what the servers have then, and how many requests it made.
func played(t *testing.T, do func(context.Context, *stage) (any, error), fates map[int]model.Fate) (answer string, requests int) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		s := setStage(ctx)
		s.kv.Fate = func(string) model.Fate {
			requests++
			return fates[requests]
		}
		got, err := do(ctx, s)
		s.kv.Fate = nil
		answer = fmt.Sprintf("%v, with %v\n%s", err, got, s.dump(ctx))
	})
	return answer, requests
}

// TestEachRequestLost: whatever becomes of one request of any operation, or of any two, the operation answers what it answers otherwise, and has done the same.
func TestEachRequestLost(t *testing.T) {
	clocktest.Alone(t)
	fates := []model.Fate{model.Unasked, model.Untold, model.Late, model.Slow, model.Twice, model.Stale}
	runs := 0
	for name, do := range operations {
		t.Run(name, func(t *testing.T) {
			want, n := played(t, do, nil)
			if !strings.HasPrefix(want, "<nil>, ") {
				t.Fatal(want)
			}
			for i := 1; i <= n; i++ {
				for _, f := range fates {
					for j := i; j <= n+2; j++ { // what is asked because of the first is lost, too
						for _, g := range fates {
							if got, _ := played(t, do, map[int]model.Fate{j: g, i: f}); got != want {
								t.Fatalf("fate %d of request %d and %d of %d make it\n%s\nnot\n%s", f, i, g, j, got, want)
							}
							runs++
							if i == j {
								break
							}
						}
					}
				}
			}
		})
	}
	t.Logf("%d operations, played %d times", len(operations), runs)
}
