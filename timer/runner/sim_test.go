package runner_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

var seedFlag = flag.Uint64("sim.seed", 0, "simulate this seed alone (or OURO_SIM_SEED), and tell all of it")

// try plays a script; what is wrong with it, and how many instants got an outcome in how many lines.
func try(s script, hk hooks) (p *play, text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint("panic: ", r)
			if *seedFlag != 0 {
				panic(r)
			}
		}
	}()
	p = perform(s, hk)
	return p, p.wrong()
}

// occurrences are the instants that have an outcome, and the runs among them. Of a long range, as
// of a clock that leaps ahead by years, only some count.
func (p *play) occurrences() (all, runs int) {
	for _, l := range p.lines {
		if l.Type == state.LineOccurrence {
			all += min(max(l.Count, 1), 100)
			if l.Started != nil {
				runs++
			}
		}
	}
	return all, runs
}

// shrink makes a script that fails as small as it can: fewer tasks, fewer events, a shorter time.
func shrink(s script, hk hooks) script {
	fails := func(s script) bool { _, text := try(s, hk); return text != "" }
	deadline := time.Now().Add(20 * time.Second)
	for smaller := true; smaller && time.Now().Before(deadline); {
		smaller = false
		attempt := func(c script) bool {
			if fails(c) {
				s, smaller = c, true
				return true
			}
			return false
		}
		for i := 0; i < len(s.tasks) && len(s.tasks) > 1; i++ {
			c := s
			c.tasks = append(append([]draft(nil), s.tasks[:i]...), s.tasks[i+1:]...)
			c.events = nil
			for _, e := range s.events {
				if userDoes(e.what) {
					if e.task == i {
						continue
					}
					if e.task > i {
						e.task--
					}
				}
				c.events = append(c.events, e)
			}
			if attempt(c) {
				i--
			}
		}
		for i := 0; i < len(s.events); i++ {
			c := s
			c.events = append(append([]happening(nil), s.events[:i]...), s.events[i+1:]...)
			if attempt(c) {
				i--
			}
		}
		for _, f := range []func(*script){
			func(c *script) { c.length /= 2 }, func(c *script) { c.length -= c.length / 8 }, func(c *script) { c.slow = 0 }, func(c *script) { c.failing = 0 },
			func(c *script) { c.short = 0 },
			func(c *script) { c.echo = false }, func(c *script) { c.noLead = !c.calm }, func(c *script) { c.parallel = 0 },
		} {
			c := s
			if f(&c); fmt.Sprint(c) != fmt.Sprint(s) {
				attempt(c)
			}
		}
		for i := range s.tasks {
			for _, f := range []func(*draft){
				func(d *draft) { d.policy.Window = "" }, func(d *draft) { d.policy.Catchup = "" }, func(d *draft) { d.policy.Overlap = "" },
				func(d *draft) { d.policy.If = "" }, func(d *draft) { d.policy.Timeout = "" }, func(d *draft) { d.policy.Retries = 0 },
				func(d *draft) { d.policy.Rerun = false }, func(d *draft) { d.policy.UntilOK = false }, func(d *draft) { d.policy.UntilOutput = "" },
				func(d *draft) { d.begin = 0 }, func(d *draft) { d.end = 0 }, func(d *draft) { d.count = 0 }, func(d *draft) { d.delay = 0 }, func(d *draft) { d.at = 0 },
			} {
				c := s
				c.tasks = append([]draft(nil), s.tasks...)
				if f(&c.tasks[i]); fmt.Sprint(c.tasks[i]) != fmt.Sprint(s.tasks[i]) {
					attempt(c)
				}
			}
		}
	}
	return s
}

func userDoes(what string) bool {
	switch what {
	case "pause", "resume", "rm", "restore", "edit", "fire", "halt":
		return true
	}
	return false
}

// tell is a failure as somebody can read it.
func tell(s script, text string, hk hooks) string {
	small := shrink(s, hk)
	p, why := try(small, hk)
	out := fmt.Sprintf("%s\nagain: go test ./timer/runner -run TestSimulation -sim.seed %d\nshrunk: %s\n%v\n", text, s.seed, why, small)
	if p == nil {
		return out
	}
	for _, t := range p.tasks {
		if t.id != "" {
			out += "  " + p.id(t) + "\n" + p.timeline(t.id)
		}
	}
	if len(out) > 40000 {
		out = out[:20000] + "\n…\n" + out[len(out)-20000:]
	}
	return out
}

// TestSimulation plays worlds until enough occurrences have had their outcome: a million when OURO_TEST_ALL is set.
func TestSimulation(t *testing.T) {
	seed := *seedFlag
	if n, err := strconv.ParseUint(os.Getenv("OURO_SIM_SEED"), 10, 64); err == nil {
		seed = n
	}
	if seed != 0 {
		s := write(seed)
		if _, text := try(s, hooks{}); text != "" {
			t.Fatal(tell(s, text, hooks{}))
		}
		t.Logf("%v\nnothing is wrong", s)
		return
	}
	want := int64(150_000)
	switch {
	case testing.Short():
		want = 20_000
	case os.Getenv("OURO_TEST_ALL") != "":
		want = 1_000_000
	}
	if clocktest.Raced {
		want = 10_000
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // worlds are small and short-lived
	var next atomic.Uint64
	var all, runs, plays, failed, shorts atomic.Int64
	var wait sync.WaitGroup
	began := time.Now()
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for all.Load() < want && failed.Load() < 3 {
				s := write(next.Add(1))
				p, text := try(s, hooks{})
				if text != "" {
					failed.Add(1)
					t.Errorf("seed %d: %s", s.seed, tell(s, text, hooks{}))
					continue
				}
				a, r := p.occurrences()
				all.Add(int64(a))
				runs.Add(int64(r))
				plays.Add(1)
				shorts.Add(int64(p.shorts))
			}
		})
	}
	wait.Wait()
	t.Logf("%d occurrences, %d of them runs, %d starts put off, in %d worlds, in %v", all.Load(), runs.Load(), shorts.Load(), plays.Load(), time.Since(began).Round(time.Millisecond))
	if !t.Failed() && all.Load() < want {
		t.Errorf("%d occurrences, not %d", all.Load(), want)
	}
}

// TestManyTasksOverlap: with 200 tasks, most of whose runs go on when they are due again, nothing is wrong either: in worlds of which it can
// be said what becomes of each instant, and in those where everything happens and there are few places.
func TestManyTasksOverlap(t *testing.T) {
	tasks, worlds := 200, 10
	if testing.Short() || clocktest.Raced {
		tasks, worlds = 50, 2
	}
	for seed := range worlds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := overlapping(uint64(seed+1), tasks, seed%2 == 0)
			p, text := try(s, hooks{})
			if text != "" {
				t.Fatal(tell(s, text, hooks{}))
			}
			all, runs := p.occurrences()
			if t.Logf("%d occurrences, %d of them runs", all, runs); runs < tasks {
				t.Error("there are few runs")
			}
		})
	}
}

// TestPlantedBugs: the simulation finds each bug that was planted into the engine.
func TestPlantedBugs(t *testing.T) {
	if testing.Short() || clocktest.Raced || *seedFlag != 0 {
		t.Skip("takes a while")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	const most = 1500
	some := os.Getenv("OURO_TEST_ALL") == ""
	needed := make([]uint64, len(runner.Mutants))
	found := make([]string, len(runner.Mutants))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(runner.Mutants); i = int(next.Add(1)) - 1 {
				if some && i%5 != 0 {
					continue
				}
				for seed := uint64(1); seed <= most; seed++ {
					if _, text := try(write(seed), hooks{engine: runner.Mutants[i].Make, notifier: runner.Mutants[i].Notifier}); text != "" {
						needed[i], found[i] = seed, text
						break
					}
				}
			}
		})
	}
	wait.Wait()
	for i, m := range runner.Mutants {
		if some && i%5 != 0 {
			continue
		}
		if needed[i] == 0 {
			t.Errorf("%-60s not found in %d worlds", m.Name, most)
			continue
		}
		t.Logf("%-60s %4d  %.100s", m.Name, needed[i], found[i])
	}
}
