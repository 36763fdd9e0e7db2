package files

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/storetest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// What was not granted never runs: a runner dies at each step of what it does, or the power goes there; then somebody removes, pauses or
// edits the tasks; then two runners come, one after the other. These tests know of no file: they hold what ran, and what the ledger says,
// against what was asked for.

// A play is a state folder in which tasks are due, and what has happened to them.
type play struct {
	t      *testing.T
	at     string
	begun  map[string]int   // runs that were started, by task and instant
	trying map[string]bool  // that were about to be
	wanted map[string]bool  // instants that somebody has tried to claim
	still  map[string]bool  // tasks of which nothing may be started any more
	newest map[string]int64 // revisions that somebody was promised
	claims map[string]bool  // claims that are open, once somebody has looked; nil: nobody has
	wrong  []string
}

func (p *play) fault(format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

func instant(id string, due time.Time) string { return id + " " + due.UTC().Format(stamp) }

// playNow is when all of it happens: after the first instants of the tasks, and before the next.
var playNow = day0.Add(time.Hour)

// playTasks are due on day 0, together, so that they are claimed together.
func playTasks(t *testing.T, s *Store) {
	t.Helper()
	message := state.Task{Text: "three", Created: day0, When: once("").When}
	for _, task := range []state.Task{once("one"), daily("two"), message, once("four")} {
		must[state.Entry](t)(s.Add(ctx, task, day0))
	}
}

// session is a runner, from its first step to its last: it settles what the one before it left, does what is due, gives one claim back,
// claims it again, and ends. saw is told what is about to become of a claim.
func session(s *Store, boot string, saw func(what string, r state.Record)) error {
	l, err := s.Lead(ctx, state.Leader{})
	if err != nil {
		return err
	}
	defer l.Release() // a process that dies gives the lock back, too
	self := state.Ident{PID: 1, Boot: boot}
	var ends []state.Ending
	ending := func(r state.Record, o state.Outcome) {
		ends = append(ends, state.Ending{Record: r, Line: state.Line{At: playNow, Outcome: o}})
	}
	run := func(r state.Record) error {
		r.Starting = playNow
		saw("trying", r)
		if err := s.Started(ctx, r); err != nil {
			return err
		}
		saw("begun", r)
		ending(r, state.OK)
		return nil
	}
	open, problems, err := s.Open(ctx)
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(open) {
		saw("open", r)
		switch {
		case r.Manual || !r.Starting.IsZero() || r.Runner.Boot != boot || len(problems) > 0:
			ending(r, state.Interrupted)
			continue
		}
		err := s.Release(ctx, r)
		if err == nil {
			continue
		}
		if fine(err) != nil {
			return err
		}
		found, err := s.Find(ctx, r.Task.ID)
		if err != nil {
			return err
		}
		if e := found[0]; e.Held || e.Phase == state.Removed || e.Task.Revision != r.Task.Revision {
			ending(r, state.Interrupted)
		} else if err := run(r); err != nil {
			return err
		}
	}
	for pass := range 2 {
		due, problems, err := dueBy(s, playNow, 0)
		if err != nil || len(problems) > 0 {
			return fmt.Errorf("%w %v", err, problems)
		}
		var wants []storetest.Want
		for _, e := range due {
			w := storetest.Want{ID: e.Task.ID, Due: e.Due}
			if e.Task.Recurring() {
				w.Next = e.Due.AddDate(0, 0, 1)
			}
			saw("wanted", state.Record{Task: e.Task, Due: e.Due})
			wants = append(wants, w)
		}
		for i, g := range storetest.ClaimAll(ctx, s, wants, self, playNow) {
			if g.Err != nil {
				if fine(g.Err) != nil {
					return g.Err
				}
				continue
			}
			if pass == 0 && i == 1 {
				if err := s.Release(ctx, g.Record); fine(err) != nil {
					return err
				}
				continue
			}
			if err := run(g.Record); err != nil {
				return err
			}
		}
		for _, err := range s.EndAll(ctx, ends) {
			if fine(err) != nil {
				return err
			}
		}
		ends = nil
	}
	return s.Sync(ctx)
}

// takes notes what a session is about to do. A runner that comes after the user holds to what the user has said.
func (p *play) takes(later bool, s *Store) func(what string, r state.Record) {
	return func(what string, r state.Record) {
		at := instant(r.Task.ID, r.Due)
		switch what {
		case "open":
			if p.claims != nil && !p.claims[at] {
				p.fault("%s (%s) is claimed, and was not before", at, r.Task.Summary())
			}
		case "wanted":
			p.wanted[at] = true
		case "trying":
			p.trying[at] = true
		case "begun":
			if p.begun[at]++; p.begun[at] > 1 {
				p.fault("%s (%s) ran %d times", at, r.Task.Summary(), p.begun[at])
			}
			if later && p.still[r.Task.ID] {
				p.fault("%s (%s) ran although its task was removed or paused", at, r.Task.Summary())
			}
			if later && r.Task.Revision < p.newest[r.Task.ID] {
				p.fault("%s ran as revision %d, and there is %d", at, r.Task.Revision, p.newest[r.Task.ID])
			}
		}
	}
}

// deed is what somebody does to a task while no runner lives.
type deed struct {
	name string
	do   func(s *Store, id string) error
}

var deeds = func() []deed {
	find := func(s *Store, id string) (state.Entry, error) {
		found, err := s.Find(ctx, id)
		if err != nil {
			return state.Entry{}, err
		}
		return found[0], nil
	}
	edit := func(due time.Time) func(s *Store, id string) error {
		return func(s *Store, id string) error {
			e, err := find(s, id)
			if err == nil {
				e.Task.Description += "+"
				_, err = s.Update(ctx, e.Task, due, playNow, nil)
			}
			return err
		}
	}
	both := func(one, two func(s *Store, id string) error) func(s *Store, id string) error {
		return func(s *Store, id string) error {
			if err := one(s, id); err != nil {
				return err
			}
			return two(s, id)
		}
	}
	remove := func(s *Store, id string) error { _, err := s.Remove(ctx, id, playNow); return err }
	pause := func(s *Store, id string) error { _, err := s.Pause(ctx, id, time.Time{}, playNow); return err }
	resume := func(s *Store, id string) error { _, err := s.Resume(ctx, id, playNow); return err }
	restore := func(s *Store, id string) error {
		e, err := find(s, id)
		if err == nil {
			_, err = s.Restore(ctx, id, e.Due, playNow)
		}
		return err
	}
	return []deed{
		{"none", func(*Store, string) error { return nil }},
		{"remove", remove},
		{"pause", pause},
		{"edit", edit(time.Time{})},
		{"edit to be later", edit(day2)},
		{"pause and resume", both(pause, resume)},
		{"remove and restore", both(remove, restore)},
		{"pause and edit to be later", both(pause, edit(day2))},
		{"fire", func(s *Store, id string) error {
			r, err := s.Fire(ctx, id, state.Ident{PID: 3}, playNow)
			if err == nil {
				err = s.End(ctx, r, state.Line{At: playNow, Outcome: state.OK})
			}
			return err
		}},
		{"skip", func(s *Store, id string) error {
			e, err := find(s, id)
			if err != nil {
				return err
			}
			next := time.Time{}
			if e.Task.Recurring() {
				next = day1
			}
			return s.Skip(ctx, id, day0, next, state.Line{At: playNow, Outcome: state.Missed})
		}},
	}
}()

// does lets somebody do it to every task, and notes what that forbids.
func (p *play) does(d deed, s *Store) {
	list, _, err := state.All(ctx, s) // after a loss of power, what nobody has mended yet is told of
	if err != nil {
		p.fault("list: %v", err)
	}
	for _, e := range list {
		if err := d.do(s, e.Task.ID); fine(err) != nil {
			p.fault("%s %s: %v", d.name, e.Task.ID, err)
		}
	}
	if list, _, err = state.All(ctx, s); err != nil {
		p.fault("list: %v", err)
	}
	for _, e := range list {
		p.still[e.Task.ID] = e.Held || e.Phase == state.Removed
		p.newest[e.Task.ID] = e.Task.Revision
	}
	if d.name == "none" {
		return // nobody has changed anything: what is open is for the next runner to find
	}
	p.looks(s)
}

// looks notes which claims are open.
func (p *play) looks(s *Store) {
	open, problems, err := s.Open(ctx)
	if err != nil || len(problems) > 0 {
		p.fault("open: %v %v", problems, err)
	}
	p.claims = map[string]bool{}
	for _, r := range open {
		p.claims[instant(r.Task.ID, r.Due)] = true
	}
}

// judge holds what there is in the end against what must be.
func (p *play) judge(d deed, s *Store, power bool) {
	outcomes, numbers, kinds := map[string]int{}, map[string]bool{}, map[string]state.Outcome{}
	ended := map[string]int{}
	_, problems, err := s.Log(ctx, "", func(l state.Line) bool {
		if l.Type != state.LineOccurrence && l.Type != state.LineManual {
			return true
		}
		if n := fmt.Sprint(l.TaskID, "/", l.Number); numbers[n] {
			p.fault("%s has two lines", n)
		} else {
			numbers[n] = true
		}
		if l.Type == state.LineOccurrence {
			at := instant(l.TaskID, *l.Due)
			outcomes[at]++
			kinds[at] = l.Outcome
			ended[l.TaskID]++
		}
		return true
	})
	if err != nil || len(problems) > 0 {
		p.fault("log: %v %v", problems, err)
	}
	for at, n := range outcomes {
		if n != 1 {
			p.fault("%s has %d outcomes", at, n)
		}
	}
	for at := range p.begun {
		if outcomes[at] == 0 {
			p.fault("%s ran and has no outcome", at)
		}
	}
	list, problems, err := state.All(ctx, s)
	if err != nil || len(problems) > 0 {
		p.fault("list: %v %v", problems, err)
	}
	if len(list) != 4 {
		p.fault("there are %d tasks", len(list))
	}
	for _, e := range list {
		id, first := e.Task.ID, instant(e.Task.ID, day0)
		if len(e.Open) > 0 {
			p.fault("%s has an open claim in the end", id)
		}
		if p.still[id] {
			continue
		}
		if !e.Due.After(playNow) && e.Phase != state.Ended {
			p.fault("%s is still due", id)
		}
		moved := e.Phase == state.Pending && e.Due.Equal(day2)
		switch n := ended[id]; {
		case n > 1, n == 0 && !moved:
			p.fault("%s (%s) has %d outcomes and is %s at %s", id, e.Task.Summary(), n, e.Phase, e.Due.Format(stamp))
		case d.name != "none" || n == 0:
		case kinds[first] == state.OK:
		case kinds[first] != state.Interrupted, !p.trying[first] && !(power && p.wanted[first]):
			p.fault("%s is %s, and nothing of it was begun", first, kinds[first])
		}
	}
}

// goOn is what comes after the crash: the deed, and two runners.
func (p *play) goOn(d deed, boot string, power bool) {
	p.still, p.newest = map[string]bool{}, map[string]int64{}
	p.does(d, p.open(nil, boot))
	for range 2 {
		s := p.open(nil, boot)
		if err := session(s, boot, p.takes(true, s)); err != nil {
			p.fault("a runner: %v", err)
		}
		p.looks(s)
	}
	p.judge(d, p.open(nil, boot), power)
}

// open is a handle of a process under a boot.
func (p *play) open(d disk, boot string) *Store {
	if d == nil {
		d = lazyDisk{}
	}
	return must[*Store](p.t)(Open(p.at, Options{disk: d, boot: func() string { return boot }}))
}

func newPlay(t *testing.T, at string) *play {
	return &play{t: t, at: at, begun: map[string]int{}, trying: map[string]bool{}, wanted: map[string]bool{}}
}

// copy is the play as it was before, elsewhere.
func (p *play) copy(f folder, at string) *play {
	f.unpack(p.t, at)
	c := newPlay(p.t, at)
	for k, n := range p.begun {
		c.begun[k] = n
	}
	for k := range p.trying {
		c.trying[k] = true
	}
	for k := range p.wanted {
		c.wanted[k] = true
	}
	return c
}

// stage is how things stand when the runner comes that is going to die.
type stage struct {
	name string
	set  func(t *testing.T, p *play)
	boot string // under which it comes
}

var stages = []stage{
	{"due", func(t *testing.T, p *play) { playTasks(t, p.open(nil, "one")) }, "one"},
	{"claimed by one that died", func(t *testing.T, p *play) {
		playTasks(t, p.open(nil, "one"))
		p.dies(t, "one", func(d *faultDisk) bool { return len(p.wanted) == 4 && d.kind == "patch" })
	}, "one"},
	{"half claimed by one that died", func(t *testing.T, p *play) {
		playTasks(t, p.open(nil, "one"))
		renames := 0
		p.dies(t, "one", func(d *faultDisk) bool {
			if d.kind == "rename" && len(p.wanted) == 4 {
				renames++
			}
			return renames == 3
		})
	}, "one"},
	{"claimed before the power went", func(t *testing.T, p *play) {
		playTasks(t, p.open(nil, "one"))
		f := pack(t, p.at)
		d := &recorder{root: p.at}
		s := p.open(d, "one")
		wants := []storetest.Want{}
		for _, e := range must[[]state.Entry](t)(dueOf(s)) {
			w := storetest.Want{ID: e.Task.ID, Due: e.Due}
			if e.Task.Recurring() {
				w.Next = day1
			}
			wants = append(wants, w)
			p.wanted[instant(e.Task.ID, e.Due)] = true
		}
		for _, g := range storetest.ClaimAll(ctx, s, wants, state.Ident{PID: 1, Boot: "one"}, playNow) {
			if g.Err != nil {
				t.Fatal(g.Err)
			}
		}
		lost := map[int]loss{}
		for _, i := range unsynced(d.steps) {
			lost[i] = loss{lost: true}
		}
		f.unpack(t, p.at)
		replay(t, p.at, d.steps, len(d.steps), lost)
	}, "two"},
}

func dueOf(s *Store) ([]state.Entry, error) {
	list, _, err := dueBy(s, playNow, 0)
	return list, err
}

// dies lets a session die at the first step of which when says so.
func (p *play) dies(t *testing.T, boot string, when func(d *faultDisk) bool) {
	t.Helper()
	f := pack(t, p.at)
	for at := 1; ; at++ {
		c := p.copy(f, p.at)
		p.wanted = c.wanted
		d := &faultDisk{disk: lazyDisk{}, at: at, crash: true, err: errCrash}
		s := p.open(d, boot)
		session(s, boot, c.takes(false, s))
		if !d.hit {
			t.Fatal("it never came there")
		}
		if when(d) {
			*p = *c
			return
		}
	}
}

// replay does the first n steps, each with its fate, and those after them that have one.
func replay(t *testing.T, at string, steps []step, n int, fates map[int]loss) {
	t.Helper()
	for i, s := range steps {
		f, ok := fates[i]
		if i >= n && !ok {
			continue
		}
		if err := s.do(at, f); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) { // what it works on may have been lost
			t.Fatal(err)
		}
	}
}

// lots says which of many cases are played: all with OURO_TEST_ALL, else about as many as wanted.
func lots(wanted, of int) func() bool {
	rng := rand.New(rand.NewPCG(14, uint64(of)))
	return func() bool {
		return os.Getenv("OURO_TEST_ALL") != "" || rng.IntN(max(of, 1)) < wanted
	}
}

// TestNotGrantedNeverRuns kills a runner at each step. After each something is done; what, is drawn by lot, and OURO_TEST_ALL=1 does
// everything.
func TestNotGrantedNeverRuns(t *testing.T) {
	clocktest.Alone(t)
	var crashes atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, st := range stages {
			t.Run(st.name, func(t *testing.T) {
				t.Parallel()
				base := scratch(t)
				first := newPlay(t, filepath.Join(base, "first"))
				st.set(t, first)
				f := pack(t, first.at)
				chosen := lots(1, 6)
				for at, half := 1, false; ; half = !half {
					hit, tears := true, false
					for i, d := range deeds {
						if i != at%len(deeds) && (half || !chosen()) {
							continue
						}
						p := first.copy(f, filepath.Join(base, "copy"))
						disk := &faultDisk{disk: lazyDisk{}, at: at, crash: true, half: half, err: errCrash}
						s := p.open(disk, st.boot)
						err := session(s, st.boot, p.takes(false, s))
						if hit = disk.hit; !hit {
							break
						}
						tears = slices.Contains([]string{"create", "write", "log", "mark"}, disk.kind)
						crashes.Add(1)
						p.goOn(d, st.boot, st.boot != "one")
						if len(p.wrong) > 0 {
							t.Errorf("step %d, a %s, half %v (%v), then %s:\n%s", at, disk.kind, half, err, d.name, strings.Join(p.wrong, "\n"))
						}
					}
					if !hit {
						break
					}
					if half || !tears { // what cannot be torn is not played twice
						half = true
						at++
					}
				}
			})
		}
	})
	t.Logf("%d crashes", crashes.Load())
	if crashes.Load() < 400 {
		t.Error("that is less than there was")
	}
}

// TestNotGrantedNeverRunsAfterPowerLoss lets the power go at each step of a runner, with as many of the fates of what was not synced as
// there is time for.
func TestNotGrantedNeverRunsAfterPowerLoss(t *testing.T) {
	clocktest.Alone(t)
	var losses atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, st := range stages {
			t.Run(st.name, func(t *testing.T) {
				t.Parallel()
				base := scratch(t)
				first := newPlay(t, filepath.Join(base, "first"))
				st.set(t, first)
				f := pack(t, first.at)
				rec := &recorder{root: filepath.Join(base, "copy")}
				p := first.copy(f, rec.root)
				type mark struct {
					step int
					what string
					r    state.Record
				}
				var marks []mark
				if err := session(p.open(rec, st.boot), st.boot, func(what string, r state.Record) {
					marks = append(marks, mark{len(rec.steps), what, r})
				}); err != nil {
					t.Fatal(err)
				}
				chosen := lots(1, 16)
				for n := range len(rec.steps) + 1 {
					turn := n
					endings(rec.steps, n, rowMost, func(fates map[int]loss) {
						if turn++; !chosen() {
							return
						}
						for i, d := range deeds {
							if i != turn%len(deeds) && os.Getenv("OURO_TEST_ALL") == "" {
								continue
							}
							p := first.copy(f, rec.root)
							replay(t, p.at, rec.steps, n, fates)
							saw := p.takes(false, nil)
							for _, m := range marks {
								if m.step <= n {
									saw(m.what, m.r)
								}
							}
							losses.Add(1)
							p.goOn(d, "three", true)
							if len(p.wrong) > 0 {
								t.Errorf("%d of %d steps, fates %v, then %s:\n%s", n, len(rec.steps), fates, d.name, strings.Join(p.wrong, "\n"))
							}
						}
					})
				}
			})
		}
	})
	t.Logf("%d losses of power", losses.Load())
	if losses.Load() < 250 {
		t.Error("that is less than there was")
	}
}
