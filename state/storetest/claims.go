package storetest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

func testMove(t *testing.T, b *bench) {
	id := b.add(daily("daily"), hour(9)).Task.ID
	b.is("move of another instant", b.b.Move(b.ctx, id, hour(8), hour(10), hour(1)), state.ErrTaken)
	b.is("move", b.b.Move(b.ctx, id, hour(9), hour(8), hour(1)), nil)
	b.phase(id, state.Pending, hour(8))
	_, err := b.a.Claim(b.ctx, id, hour(9), hour(33), self, hour(9))
	b.is("claim of the instant it had", err, state.ErrTaken)
	b.end(b.claim(id, hour(8), hour(32)), state.OK)
	b.phase(id, state.Pending, hour(32))
	r := b.claim(id, hour(32), hour(56))
	b.is("move to an instant that runs", b.a.Move(b.ctx, id, hour(56), hour(32), hour(33)), state.ErrTaken)
	b.end(r, state.OK)
	b.is("move to an instant that has ended", b.a.Move(b.ctx, id, hour(56), hour(20), hour(33)), state.ErrTaken)
	b.phase(id, state.Pending, hour(56))
	moved := 0
	if _, _, err := b.a.Log(b.ctx, id, func(l state.Line) bool {
		if l.Type == state.LineTask && l.Event == "moved" && l.Due.Equal(hour(8)) {
			moved++
		}
		return true
	}); err != nil || moved != 1 {
		t.Errorf("%d lines of the move, %v", moved, err)
	}
}

func testClaim(t *testing.T, b *bench) {
	e := b.add(oneShot("once"), hour(1))
	id := e.Task.ID
	_, err := b.b.Claim(b.ctx, id, hour(2), time.Time{}, self, hour(2))
	b.is("claim of another instant", err, state.ErrTaken)
	now := hour(1).Add(3 * time.Millisecond)
	r := must[state.Record](b)(b.a.Claim(b.ctx, id, hour(1), time.Time{}, self, now))
	if r.Task.ID != id || !r.Due.Equal(hour(1)) || r.Number != 1 || r.Runner != self || !r.Claimed.Equal(now) || r.Manual {
		t.Errorf("record %+v", r)
	}
	_, err = b.b.Claim(b.ctx, id, hour(1), time.Time{}, self, now)
	b.is("claim again", err, state.ErrTaken)
	b.phase(id, state.Running, hour(1))
	open := b.open()
	if len(open) != 1 || !reflect.DeepEqual(open[0], r) {
		t.Errorf("open claims\n%+v\nwant\n%+v", open, r)
	}
	if !reflect.DeepEqual(r.Task, e.Task) {
		t.Errorf("the record's task\n%+v\nwant\n%+v", r.Task, e.Task)
	}
	b.end(r, state.OK)
	b.phase(id, state.Ended, hour(1))
	_, err = b.b.Claim(b.ctx, id, hour(1), time.Time{}, self, now)
	b.is("claim after the end", err, state.ErrTaken)

	id = b.add(daily("daily"), hour(1)).Task.ID
	_, err = b.b.Claim(b.ctx, id, hour(1), hour(1), self, now)
	b.is("a next instant that is not later", err, state.ErrInvalid)
	r = b.claim(id, hour(1), hour(25))
	b.phase(id, state.Running, hour(25))
	r2 := b.claim(id, hour(25), hour(49)) // overlap is not the store's business
	if o := b.find(id).Open; len(o) != 2 || !o[0].Due.Equal(hour(1)) || !o[1].Due.Equal(hour(25)) {
		t.Errorf("open claims %+v", o)
	}
	b.end(r, state.OK)
	b.end(r2, state.OK)
	b.phase(id, state.Pending, hour(49))
	_, err = b.a.Claim(b.ctx, "zzzz", hour(1), time.Time{}, self, now)
	if !errors.Is(err, state.ErrNotFound) && !errors.Is(err, state.ErrTaken) {
		t.Errorf("claim of what is not a task: %v", err)
	}
}

func testClaimRace(t *testing.T, b *bench) {
	const claimers, days = 8, 6
	id := b.add(daily("n"), hour(0)).Task.ID
	var granted [days]atomic.Int32
	b.together(claimers, func(_ int, s state.Store) {
		for d := range days {
			next := hour(24 * (d + 1))
			if d == days-1 {
				next = time.Time{}
			}
			r, err := s.Claim(b.ctx, id, hour(24*d), next, self, hour(24*d))
			switch {
			case err == nil:
				granted[d].Add(1)
				if err := s.End(b.ctx, r, line(r, state.OK)); err != nil {
					t.Error(err)
				}
			case !errors.Is(err, state.ErrTaken):
				t.Error(err)
			}
		}
	})
	for d := range days {
		// A claimer can come by before the task has moved on to its day; but the first day is
		// everybody's.
		if n := granted[d].Load(); n > 1 || d == 0 && n != 1 {
			t.Errorf("day %d was granted %d times", d, n)
		}
	}
	var numbers []int
	for _, l := range b.log(id) {
		if l.Type == state.LineOccurrence {
			numbers = append(numbers, l.Number)
		}
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != i+1 {
			t.Errorf("the occurrences have numbers %v", numbers)
			break
		}
	}
}

func testClaimEnded(t *testing.T, b *bench) {
	id := b.add(daily("n"), hour(1)).Task.ID
	first := b.claim(id, hour(1), hour(25))
	second := b.claim(id, hour(25), hour(49))
	b.end(second, state.OK)
	for _, due := range []time.Time{hour(0), hour(1), hour(25)} {
		_, err := b.a.Claim(b.ctx, id, due, hour(73), self, hour(49))
		b.is("claim of an instant that has gone", err, state.ErrTaken)
	}
	b.phase(id, state.Running, hour(49))
	b.end(first, state.Interrupted)
	tally := b.find(id).Tally
	if !tally.LastDue.Equal(hour(25)) || tally.Number != 2 || tally.Fired != 2 {
		t.Errorf("tally %+v", tally)
	}
}

func testNumbers(t *testing.T, b *bench) {
	id := b.add(daily("n"), hour(0)).Task.ID
	other := b.add(daily("other"), hour(0)).Task.ID
	r := b.claim(id, hour(0), hour(24))
	b.end(r, state.OK)
	last := hour(24 * 3)
	b.ok(b.b.Skip(b.ctx, id, hour(24), hour(24*4), state.Line{At: hour(80), DueLast: &last, Count: 3, Outcome: state.Missed, Reason: "coalesced"}))
	if n := b.log(id)[0].Number; n != 2 {
		t.Errorf("the range has number %d, want 2, its first instant's", n)
	}
	if n := b.claim(id, hour(24*4), hour(24*5)).Number; n != 5 {
		t.Errorf("number %d after 1, and a range of 3; want 5", n)
	}
	if n := b.claim(id, hour(24*5), hour(24*6)).Number; n != 6 {
		t.Errorf("number %d while 5 is open; want 6", n)
	}
	if n := b.claim(other, hour(0), hour(24)).Number; n != 1 {
		t.Errorf("number %d of another task; want 1", n)
	}
}

func testStarted(t *testing.T, b *bench) {
	id := b.add(oneShot("n"), hour(1)).Task.ID
	r := b.claim(id, hour(1), time.Time{})
	if o := b.open()[0]; o.Child != (state.Ident{}) || !o.Started.IsZero() {
		t.Errorf("not started, and %+v", o)
	}
	r.Child, r.Started = state.Ident{PID: 99, Start: 7, Boot: "b", NS: "n"}, hour(1).UTC()
	b.ok(b.a.Started(b.ctx, r))
	if o := b.open(); len(o) != 1 || !reflect.DeepEqual(o[0], r) {
		t.Errorf("open\n%+v\nwant\n%+v", o, r)
	}
	b.end(r, state.OK)
	if o := b.open(); len(o) != 0 {
		t.Errorf("after its end %+v", o)
	}
}

func testEnd(t *testing.T, b *bench) {
	id := b.add(oneShot("n"), hour(1)).Task.ID
	r := b.claim(id, hour(1), time.Time{})
	b.is("end without an outcome", b.a.End(b.ctx, r, state.Line{}), state.ErrInvalid)
	want := line(r, state.Failed)
	code := 3
	want.ExitCode, want.Reason, want.Late, want.Signal = &code, "why", 0.25, "SIGTERM"
	want.Stdout, want.Stderr = state.Output{Bytes: 10}, state.Output{Bytes: 1 << 40, Truncated: true}
	want.User, want.System, want.MaxRSS = 0.5, 0.25, 1<<20
	want.Description, want.Text, want.Revision = "d", "t\x1b☕", 1
	b.ok(b.b.End(b.ctx, r, want))
	b.is("end twice", b.a.End(b.ctx, r, want), state.ErrEnded)
	got := b.log(id)
	if len(got) != 2 {
		t.Fatalf("%d lines, want 2", len(got))
	}
	for _, p := range []**time.Time{&want.Due, &want.Started, &want.Ended, &got[0].Due, &got[0].Started, &got[0].Ended} {
		u := (*p).UTC()
		*p = &u
	}
	got[0].At, want.At = got[0].At.UTC(), want.At.UTC()
	if !reflect.DeepEqual(got[0], want) {
		t.Errorf("line\n%+v\nwant\n%+v", got[0], want)
	}
	tally := b.find(id).Tally
	if tally.Number != 1 || tally.Fired != 1 || tally.Last != "failed" || !tally.LastDue.Equal(hour(1)) || !tally.LastEnd.Equal(*want.Ended) {
		t.Errorf("tally %+v", tally)
	}
}

func testEndOrder(t *testing.T, b *bench) {
	id := b.add(daily("n"), hour(0)).Task.ID
	var open []state.Record
	for d := range 4 {
		open = append(open, b.claim(id, hour(24*d), hour(24*d+24)))
	}
	for _, i := range []int{2, 0, 3, 1} {
		b.end(open[i], state.OK)
	}
	tally := b.find(id).Tally
	if tally.Number != 4 || tally.Fired != 4 || !tally.LastDue.Equal(hour(72)) {
		t.Errorf("tally %+v", tally)
	}
	if got := b.outcomes(id); len(got) != 4 {
		t.Errorf("outcomes %v", got)
	}
}

func testSkip(t *testing.T, b *bench) {
	id := b.add(daily("n"), hour(1)).Task.ID
	miss := state.Line{At: hour(2), Outcome: state.Missed, Reason: "down"}
	b.is("skip of another instant", b.b.Skip(b.ctx, id, hour(2), hour(25), miss), state.ErrTaken)
	b.is("skip as if it had run", b.b.Skip(b.ctx, id, hour(1), hour(25), state.Line{Outcome: state.OK}), state.ErrInvalid)
	b.is("a next instant that is not later", b.b.Skip(b.ctx, id, hour(1), hour(0), miss), state.ErrInvalid)
	b.ok(b.b.Skip(b.ctx, id, hour(1), hour(25), miss))
	b.is("skip again", b.b.Skip(b.ctx, id, hour(1), hour(25), miss), state.ErrTaken)
	b.phase(id, state.Pending, hour(25))
	l := b.log(id)[0]
	if l.Type != state.LineOccurrence || l.TaskID != id || l.Number != 1 || l.Count != 1 || l.Outcome != state.Missed || l.Reason != "down" ||
		l.Due == nil || !l.Due.Equal(hour(1)) || !l.At.Equal(hour(2)) {
		t.Errorf("line %+v", l)
	}
	b.ok(b.b.Skip(b.ctx, id, hour(25), time.Time{}, state.Line{At: hour(26), Outcome: state.Skipped}))
	b.phase(id, state.Ended, hour(25))
	tally := b.find(id).Tally
	if tally.Number != 2 || tally.Fired != 0 || tally.Last != "skipped" || !tally.LastDue.Equal(hour(25)) {
		t.Errorf("tally %+v", tally)
	}
	if got := b.outcomes(id); !slices.Equal(got, []state.Outcome{state.Missed, state.Skipped}) {
		t.Errorf("outcomes %v", got)
	}
}

func testSkipRace(t *testing.T, b *bench) {
	for range 8 {
		id := b.add(daily("n"), hour(1)).Task.ID
		var won atomic.Int32
		var wg sync.WaitGroup
		wg.Go(func() {
			if r, err := b.a.Claim(b.ctx, id, hour(1), hour(25), self, hour(1)); err == nil {
				won.Add(1)
				if err := b.a.End(b.ctx, r, line(r, state.OK)); err != nil {
					t.Error(err)
				}
			} else if !errors.Is(err, state.ErrTaken) {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := b.b.Skip(b.ctx, id, hour(1), hour(25), state.Line{Outcome: state.Missed}); err == nil {
				won.Add(1)
			} else if !errors.Is(err, state.ErrTaken) {
				t.Error(err)
			}
		})
		wg.Wait()
		if got := b.outcomes(id); won.Load() != 1 || len(got) != 1 {
			t.Errorf("%d had it, outcomes %v", won.Load(), got)
		}
	}
}

func testLog(t *testing.T, b *bench) {
	one := b.add(daily("one"), hour(0)).Task.ID
	two := b.add(daily("two"), hour(0)).Task.ID
	for d := range 30 {
		for _, id := range []string{one, two} {
			b.end(b.claim(id, hour(24*d), hour(24*d+24)), state.OK)
		}
	}
	if n := len(b.log("")); n != 62 {
		t.Errorf("%d lines, want 62", n)
	}
	l := b.log(two)
	if len(l) != 31 || l[30].Event != "created" {
		t.Fatalf("%d lines, the oldest %+v", len(l), l[len(l)-1])
	}
	for i, l := range l[:30] {
		if l.TaskID != two || l.Number != 30-i {
			t.Errorf("line %d is %s", i, state.OccurrenceID(l.TaskID, l.Number))
		}
	}
	n := 0
	if _, _, err := b.a.Log(b.ctx, "", func(state.Line) bool { n++; return n < 5 }); err != nil || n != 5 {
		t.Errorf("stopped after %d lines, %v", n, err)
	}
	if l := b.log("zzzz"); len(l) != 0 {
		t.Errorf("lines of no task: %v", l)
	}
}

func testLead(t *testing.T, b *bench) {
	me := state.Leader{Ident: self, Since: hour(0).UTC(), Version: "1.2.3", Mode: "foreground"}
	l := must[state.Lease](b)(b.a.Lead(b.ctx, me))
	_, err := b.b.Lead(b.ctx, state.Leader{})
	b.is("lead beside a leader", err, state.ErrLed)
	if who, led, err := b.b.Led(b.ctx); !led || err != nil || !reflect.DeepEqual(who, me) {
		t.Errorf("led by %+v %v %v", who, led, err)
	}
	for _, list := range [][]state.Delay{{{TaskID: "k7m2", Since: hour(1).UTC(), Why: "too many open files"}, {TaskID: "b42p", Since: hour(2).UTC(), Why: "text file busy"}}, nil} {
		if err := l.Delay(list); err != nil {
			t.Error(err)
		}
		me.Delays = list
		if who, _, err := b.b.Led(b.ctx); err != nil || !reflect.DeepEqual(who, me) || len(list) > 0 && who.DelayOf("b42p") != "text file busy" || who.DelayOf("cczu") != "" {
			t.Errorf("led by %+v %v, want %+v", who, err, me)
		}
	}
	id := b.add(oneShot("n"), hour(1)).Task.ID // the runner lock is not the state lock
	b.end(b.claim(id, hour(1), time.Time{}), state.OK)
	for range 2 {
		if err := l.Release(); err != nil {
			t.Error(err)
		}
		// of one who does not lead any more nothing is said
		_ = l.Delay([]state.Delay{{TaskID: "k7m2"}})
	}
	if who, led, err := b.b.Led(b.ctx); led || err != nil {
		t.Errorf("released, and led by %+v %v", who, err)
	}
	l = must[state.Lease](b)(b.b.Lead(b.ctx, state.Leader{Mode: "background"}))
	if who, led, err := b.a.Led(b.ctx); !led || err != nil || who.Mode != "background" {
		t.Errorf("led by %+v %v %v", who, led, err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

func testLedRace(t *testing.T, b *bench) {
	look := func(n int, found func(led bool)) *sync.WaitGroup {
		var wg sync.WaitGroup
		for i := range 4 {
			s := []state.Store{b.a, b.b}[i%2]
			wg.Go(func() {
				for range n {
					_, led, err := s.Led(b.ctx)
					if err != nil {
						t.Error(err)
					}
					found(led)
				}
			})
		}
		return &wg
	}
	for range 3 {
		// so that there is a lock to look at
		l := must[state.Lease](b)(b.a.Lead(b.ctx, state.Leader{}))
		b.ok(l.Release())
		look(100, func(led bool) {
			if led {
				t.Error("somebody who looks was taken for a runner")
			}
		}).Wait()
		wg := look(300, func(bool) {})
		l, err := b.b.Lead(b.ctx, state.Leader{})
		if err != nil {
			t.Fatalf("lead among those who look: %v", err)
		}
		wg.Wait()
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
}

// testFollow: who follows the queue is told, and knows where each task is.
func testFollow(t *testing.T, b *bench) {
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	before := b.add(daily("n"), hour(5))
	queue := must[state.Queue](b)(b.a.Follow(ctx))
	known := map[string]state.Slot{}
	// heard takes in what is told until a task is, or is not, where it is thought to be.
	heard := func(what, id string, due, resume time.Time) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); ; {
			slots, whole, err := queue.Take(ctx)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if whole {
				clear(known)
			}
			for s := range slots {
				if was := known[s.ID]; !s.Gone {
					known[s.ID] = s
				} else if s.Same(was) {
					delete(known, s.ID)
				}
			}
			if s := known[id]; s.Due.Equal(due) && s.Resume.Equal(resume) {
				return
			}
			select {
			case <-queue.Changed():
			case <-time.After(time.Until(end)):
				t.Fatalf("nothing was heard of %s; known: %v", what, known)
			}
		}
	}
	heard("a task there was", before.Task.ID, hour(5), time.Time{})
	e := must[state.Entry](b)(b.b.Add(b.ctx, daily("n"), hour(1)))
	id := e.Task.ID
	heard("an addition", id, hour(1), time.Time{})
	must[state.Record](b)(b.b.Claim(b.ctx, id, hour(1), hour(25), self, hour(1)))
	heard("a claim", id, hour(25), time.Time{})
	must[state.Entry](b)(b.b.Pause(b.ctx, id, hour(30), hour(2)))
	heard("a pause", id, hour(25), hour(30))
	must[state.Entry](b)(b.b.Pause(b.ctx, id, time.Time{}, hour(2)))
	heard("a pause without an end", id, time.Time{}, time.Time{})
	must[state.Entry](b)(b.b.Resume(b.ctx, id, hour(2)))
	heard("the end of it", id, hour(25), time.Time{})
	must[state.Entry](b)(b.b.Remove(b.ctx, id, hour(2)))
	heard("a removal", id, time.Time{}, time.Time{})
	must[state.Entry](b)(b.b.Restore(b.ctx, id, hour(26), hour(2)))
	heard("a task that came back", id, hour(26), time.Time{})
	last := ""
	for range 200 { // nobody listens: nobody is held up
		last = b.add(oneShot("n"), hour(3)).Task.ID
	}
	heard("many additions", last, hour(3), time.Time{})
	if len(known) != 202 {
		t.Errorf("%d are known", len(known))
	}
}

func testCancelled(t *testing.T, b *bench) {
	id := b.add(daily("n"), hour(1)).Task.ID
	ctx, stop := context.WithCancel(b.ctx)
	stop()
	_, err := b.a.Add(ctx, oneShot("n"), hour(1))
	b.is("add", err, context.Canceled)
	_, err = b.a.Claim(ctx, id, hour(1), hour(25), self, hour(1))
	b.is("claim", err, context.Canceled)
	_, _, err = state.All(ctx, b.a)
	b.is("list", err, context.Canceled)
	_, err = b.a.Lead(ctx, state.Leader{})
	b.is("lead", err, context.Canceled)
	if l := b.list(); len(l) != 1 || l[0].Phase != state.Pending {
		t.Errorf("tasks %+v", l)
	}
}
