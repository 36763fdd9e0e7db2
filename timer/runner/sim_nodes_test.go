package runner_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	fleetstore "github.com/ouro-timer/ouro-timer/state/fleet"
	servers "github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/audit"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
)

// fleet is a world of machines that share a store, each with a runner, and what is seen to go wrong in it.
type fleet struct {
	*sim.World
	luck   *rand.Rand
	gone   map[string]time.Duration        // since when a machine has no runner, on the awake clock
	going  map[string]map[int]state.Record // by claim: its processes, by number
	runs   map[string]int                  // by task and instant: which number ran
	begun  map[string]string               // by claim: the node whose runner has begun it
	count  int                             // occurrences that had their outcome
	over   int                             // claims that another node took over
	faults []string
}

func (f *fleet) fault(format string, a ...any) {
	f.faults = append(f.faults, f.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, a...))
}

// leased says whether the runner of a machine is up, or was so short a while ago that its lease counts. On one machine processes are seen, and count as
// long as they live.
func (f *fleet) leased(node string) bool {
	if f.OneMachine {
		return true
	}
	since, gone := f.gone[node]
	return !gone || f.Awake()-since < sim.LeaseTime
}

// known says whether a process counts as alive: its machine has a lease and, where that does not tell, the store knew of it when its runner died.
func (f *fleet) known(pid int, r state.Record) bool {
	return f.leased(r.Runner.Node) && (!f.OneMachine || slices.Contains(f.Noted(), pid))
}

// lose forgets what runs on a machine whose lease has run out: its claims may be others' by now.
func (f *fleet) lose(node string) {
	for _, processes := range f.going {
		maps.DeleteFunc(processes, func(_ int, r state.Record) bool { return r.Runner.Node == node })
	}
}

func (f *fleet) told(h sim.Happening) {
	switch h.What {
	case sim.Up:
		if node := h.Runner.Self.Node; !f.leased(node) {
			f.lose(node)
		}
		delete(f.gone, h.Runner.Self.Node)
	case sim.Down:
		f.gone[h.Runner.Self.Node] = f.Awake()
	case sim.Starts:
		name := state.OccurrenceID(h.Record.Task.ID, h.Record.Number)
		for pid, other := range f.going[name] {
			if f.known(pid, other) {
				f.fault("%s is started on %q while its process %d on %q goes on", name, h.Runner.Self.Node, pid, other.Runner.Node)
			}
		}
		if f.going[name] == nil {
			f.going[name] = map[int]state.Record{}
		}
		r := *h.Record
		r.Runner = h.Runner.Self
		f.going[name][h.PID] = r
		f.begun[name] = r.Runner.Node
		instant := r.Task.ID + r.Due.Format(time.RFC3339Nano)
		if was, ok := f.runs[instant]; ok && was != r.Number {
			f.fault("%s runs again what number %d has run", name, was)
		}
		f.runs[instant] = r.Number
		if f.OneMachine && f.luck.IntN(40) == 0 {
			node := r.Runner.Node
			f.After(odd(f.luck, time.Second), func() { f.befalls(node, false, time.Minute) })
		}
	case sim.Ends:
		delete(f.going[state.OccurrenceID(h.Record.Task.ID, h.Record.Number)], h.PID)
	case sim.Outcome:
		name := state.OccurrenceID(h.Record.Task.ID, h.Record.Number)
		f.count++
		if started, ok := f.begun[name]; ok && f.OneMachine && started != h.Runner.Self.Node {
			f.over++
		}
		for pid, other := range f.going[name] {
			switch {
			case f.known(pid, other):
				f.fault("%s has ended (%s) on %q while its process %d on %q goes on", name, h.Line.Outcome, h.Runner.Self.Node, pid, other.Runner.Node)
			default:
				f.over++
			}
		}
	}
}

// nodes are the machines of a fleet.
var nodes = []string{"a", "b"}

// playFleet plays a fleet for a day.
func playFleet(seed uint64, together bool, store state.Store, engine func(runner.Options, runner.Host) *runner.Engine) *fleet {
	f := &fleet{World: sim.New(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)), luck: rand.New(rand.NewPCG(seed, 25)),
		gone: map[string]time.Duration{}, going: map[string]map[int]state.Record{}, runs: map[string]int{}, begun: map[string]string{}}
	f.World.Told, f.Engine, f.OneMachine = f.told, engine, together
	if store != nil {
		f.Store = store
	}
	f.Disk = func(r *sim.Runner) state.Store { return &disk{Store: f.Store, world: f.World, run: r, fault: f.delay} }
	fates := rand.New(rand.NewPCG(seed, 26))
	f.Fate = func(state.Record) sim.Fate {
		return sim.Fate{Takes: odd(fates, 20*time.Minute), ExitCode: pick(fates, 0, 0, 0, 1), Stubborn: odd(fates, time.Second)}
	}
	for range 1 + f.luck.IntN(6) {
		d := draft{text: pick(f.luck, "every 3m", "every 10m", "every 17m", "every 1h"), zone: "UTC", policy: state.Policy{
			Overlap: pick(f.luck, "", state.OverlapQueue, state.OverlapAllow), Rerun: f.luck.IntN(2) == 0, Retries: pick(f.luck, 0, 0, 2)}}
		task, _, due, err := d.task(f.Now())
		if err == nil {
			_, err = f.Store.Add(context.Background(), task, due)
		}
		if err != nil {
			panic(err)
		}
	}
	for _, node := range nodes {
		f.UpOn(node)
	}
	for at := time.Duration(0); at < 23*time.Hour; at += time.Minute + odd(f.luck, time.Hour) {
		node, back := pick(f.luck, nodes...), pick(f.luck, time.Millisecond, sim.LeaseTime/2, sim.LeaseTime+time.Second, 40*time.Minute)
		power := !together && f.luck.IntN(3) == 0
		f.After(at, func() { f.befalls(node, power, back) })
	}
	f.Run(24 * time.Hour)
	f.check()
	return f
}

// delay lets time pass, on one machine, before a call of the store is done, and before its caller knows what was answered. Others begin something meanwhile, and
// die.
func (f *fleet) delay(*sim.Runner, string, bool) error {
	if f.OneMachine && f.luck.IntN(20) == 0 {
		f.World.Run(odd(f.luck, 2*time.Second))
	}
	return nil
}

// befalls ends the runner of a machine, or all that runs there, and brings a runner up again after a while.
func (f *fleet) befalls(node string, power bool, back time.Duration) {
	if _, down := f.gone[node]; down {
		return
	}
	if power {
		f.PowerOf(node)
	} else {
		for _, r := range f.Runners() {
			if r.Self.Node == node {
				r.Kill()
			}
		}
	}
	f.After(back, func() {
		if _, down := f.gone[node]; down {
			f.UpOn(node)
		}
	})
}

// check holds the books.
func (f *fleet) check() {
	var lines []state.Line
	if _, _, err := f.Store.Log(context.Background(), "", func(l state.Line) bool { lines = append(lines, l); return true }); err != nil {
		panic(err)
	}
	a := audit.New(audit.Options{})
	for _, l := range slices.Backward(lines) {
		a.Add(l)
	}
	entries, _, err := state.All(context.Background(), f.Store)
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		a.Stand(e)
	}
	for _, found := range a.Result().Findings {
		f.fault("the books: %v", found)
	}
}

// TestFleet: two runners on two machines that share a store never end what the other one runs, and never run an instant twice, whatever
// befalls either of them.
func TestFleet(t *testing.T) {
	clocktest.Alone(t)
	testFleet(t, 15, false, func(uint64) state.Store { return memory.New() })
}

// TestFleetOnOneMachine: the same with two runners that see each other's processes, and take over at once what a dead one has left.
func TestFleetOnOneMachine(t *testing.T) {
	clocktest.Alone(t)
	testFleet(t, 15, true, func(uint64) state.Store { return memory.New() })
}

// TestFleetOverBadServers: the same over servers of which requests and answers are lost, late and doubled.
func TestFleetOverBadServers(t *testing.T) {
	clocktest.Alone(t)
	testFleet(t, 4, false, func(seed uint64) state.Store {
		kv, luck := servers.New(), rand.New(rand.NewPCG(seed, 27))
		kv.Fate = func(string) servers.Fate { return servers.Fate(max(luck.IntN(400)-394, 0)) }
		return fleetstore.New(kv, fleetstore.Options{Local: memory.New()})
	})
}

func testFleet(t *testing.T, worlds int, together bool, store func(seed uint64) state.Store) {
	count, over := 0, 0
	if os.Getenv("OURO_TEST_ALL") != "" {
		worlds *= 3
	}
	for seed := range uint64(worlds) {
		f := playFleet(seed+1, together, store(seed+1), nil)
		for _, text := range f.faults[:min(len(f.faults), 5)] {
			t.Errorf("seed %d: %s", seed+1, text)
		}
		count += f.count
		over += f.over
	}
	t.Logf("%d occurrences, of which %d were taken over by another node", count, over)
	if count < 100*worlds || over < worlds/10 {
		t.Error("that is too few to see anything")
	}
}

// oneMachine takes whatever runs on another machine for dead, as it does with what ran before the last boot.
type oneMachine struct {
	runner.Host
	self state.Ident
}

func (h oneMachine) Alive(i state.Ident, begun bool) bool {
	return i.Boot == h.self.Boot && h.Host.Alive(i, begun)
}

// TestFleetOfStrangers: runners that know of no leases are found out.
func TestFleetOfStrangers(t *testing.T) {
	clocktest.Alone(t)
	for seed := range uint64(20) {
		f := playFleet(seed+1, false, nil, func(o runner.Options, h runner.Host) *runner.Engine {
			return runner.NewEngine(o, oneMachine{h, o.Self})
		})
		if len(f.faults) > 0 {
			t.Log(f.faults[0])
			return
		}
	}
	t.Error("nothing was found")
}
