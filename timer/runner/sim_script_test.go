package runner_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// A script is all that happens in one simulated world. It is made from a seed, can be shrunk, and reads like one.
type script struct {
	seed     uint64
	calm     bool // what becomes of each instant can be foretold
	start    time.Time
	length   time.Duration // for which the machine is awake
	tasks    []draft
	events   []happening
	slow     time.Duration // the most a call of the store takes
	failing  int           // of 1000 calls of the store, so many fail
	short    int           // of 1000 starts of a command, so many are put off
	echo     bool
	noLead   bool
	parallel int
	standing rules.TellDefaults // who is told of tasks that do not say
}

// draft is a task to be made.
type draft struct {
	at      time.Duration // when it is made, the machine having been awake for so long
	text    string
	form    string
	zone    string
	begin   time.Duration // its --start, counted from its making; 0: none
	end     time.Duration // its --end, likewise
	count   int
	delay   time.Duration // its share of a jitter
	message bool
	policy  state.Policy

	salt     uint64        // what becomes of its attempts follows from it
	takes    time.Duration // how long they take, roughly
	exact    bool          // they take exactly so long: they end when the next instant comes
	failing  int           // of 100 attempts, so many fail
	gated    int           // of 100 gates, so many say no
	matching int           // of 100 outputs, so many have what is waited for
	writing  int           // of 100 attempts, so many write something
	outputs  int           // how many different things
}

// happening is something that befalls the machine, or that its user does.
type happening struct {
	at   time.Duration // when, the machine having been awake for so long
	what string
	task int           // the user's: which of the tasks
	d    time.Duration // how long, how far
	n    int           // for crash: at which call of the store from then on; odd: after it was made
}

func (s script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: from %s, awake for %v", s.seed, s.start.Format(time.RFC3339), s.length)
	for _, f := range []struct {
		is   bool
		text string
	}{{s.calm, ", foreseeable"}, {s.slow > 0, fmt.Sprintf(", a disk that takes up to %v", s.slow)}, {s.failing > 0, fmt.Sprintf(", %d of 1000 writes fail", s.failing)},
		{s.short > 0, fmt.Sprintf(", %d of 1000 starts are put off", s.short)}, {s.echo, ", echo"}, {s.noLead, ", no lead"}, {s.parallel > 0, fmt.Sprintf(", %d at once", s.parallel)}} {
		if f.is {
			b.WriteString(f.text)
		}
	}
	if len(s.standing.Channels) > 0 || s.standing.On != "" {
		fmt.Fprintf(&b, ", standing %+v", s.standing)
	}
	for i, t := range s.tasks {
		fmt.Fprintf(&b, "\n  task %d, made at +%v: %q in %s", i, t.at, t.text, t.zone)
		for _, f := range []struct {
			is   bool
			text string
		}{{t.begin != 0, fmt.Sprintf(" from +%v", t.begin)}, {t.end != 0, fmt.Sprintf(" to +%v", t.end)}, {t.count != 0, fmt.Sprintf(" %d times", t.count)},
			{t.delay != 0, fmt.Sprintf(" later by %v", t.delay)}, {t.message, " a message"}, {t.exact, " exactly"}} {
			if f.is {
				b.WriteString(f.text)
			}
		}
		fmt.Fprintf(&b, " takes about %v, %d%% fail, %d%% gated, %d%% match, %d%% write one of %d; policy %+v; salt %d", t.takes, t.failing, t.gated, t.matching, t.writing, t.outputs, t.policy, t.salt)
	}
	for _, e := range s.events {
		fmt.Fprintf(&b, "\n  at +%v: %s", e.at, e.what)
		switch e.what {
		case "pause", "resume", "rm", "restore", "edit", "fire", "halt":
			fmt.Fprintf(&b, " task %d", e.task)
		}
		if e.d != 0 {
			fmt.Fprintf(&b, " %v", e.d)
		}
		if e.n != 0 {
			fmt.Fprintf(&b, " n=%d", e.n)
		}
	}
	return b.String()
}

// nights are the ends of nights on which the clocks change, and a day in the middle of nowhere.
var nights = []struct{ zone, at string }{
	{"Europe/Warsaw", "2026-03-29T01:00:00Z"}, {"Europe/Warsaw", "2026-10-25T01:00:00Z"},
	{"America/New_York", "2026-03-08T07:00:00Z"}, {"America/New_York", "2026-11-01T06:00:00Z"},
	{"Australia/Lord_Howe", "2026-04-04T15:00:00Z"}, {"Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
	{"Africa/Casablanca", "2026-02-15T02:00:00Z"}, {"UTC", "2026-06-30T12:00:00Z"}, {"Asia/Kolkata", "2028-02-29T00:00:00Z"},
}

// odd is a duration up to most that ends on no round number, so that no two things happen at once by chance.
func odd(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most)))/1000*1000 + time.Duration(r.IntN(999)+1)
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// chance is true in so many of 100 cases.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// write makes the script of a seed.
func write(seed uint64) script {
	r := rand.New(rand.NewPCG(seed, 5))
	night := pick(r, nights...)
	middle, _ := time.Parse(time.RFC3339, night.at)
	s := script{seed: seed, calm: chance(r, 60), length: pick(r, 6*time.Hour, 12*time.Hour, 24*time.Hour, 24*time.Hour, 72*time.Hour, 20*24*time.Hour)}
	s.start = middle.Add(-time.Duration(r.Int64N(int64(s.length)))).Truncate(time.Second)
	s.echo, s.noLead = chance(r, 20), chance(r, 30)
	for range 1 + r.IntN(4) {
		s.tasks = append(s.tasks, s.draft(r, night.zone))
	}
	s.news(rand.New(rand.NewPCG(seed, 6)))
	s.crowd(rand.New(rand.NewPCG(seed, 7)), night.zone)
	if s.calm {
		s.calmEvents(r)
	} else {
		s.chaos(r)
		s.wrongClock(rand.New(rand.NewPCG(seed, 8)))
	}
	slices.SortStableFunc(s.events, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
	return s
}

func (s *script) draft(r *rand.Rand, zone string) draft {
	d := draft{zone: zone, salt: r.Uint64(), form: "", message: chance(r, 10)}
	if chance(r, 20) {
		d.at = odd(r, s.length/4)
	}
	minutes := func(a, b int) int { return a + r.IntN(b-a) }
	every := time.Duration(0)
	long := s.length > 48*time.Hour
	switch n := r.IntN(100); {
	case n < 8:
		d.text, every = fmt.Sprintf("in %dm", minutes(1, int(s.length/time.Minute))), time.Hour
	case n < 50:
		m := minutes(1, 40)
		if long {
			m = minutes(20, 600)
		}
		d.text, every = fmt.Sprintf("every %dm", m), time.Duration(m)*time.Minute
	case n < 55 && !long:
		d.text, every = fmt.Sprintf("every %ds", minutes(10, 60)), 30*time.Second
	case n < 80:
		d.text, every = pick(r, "*/5 * * * *", "*/7 1-4 * * *", "30 2 * * *", "0 */2 * * *", "15,45 * * * *", "@hourly", "0,1,2 0-5 * * *"), 10*time.Minute
		if long {
			d.text, every = pick(r, "30 2 * * *", "0 */2 * * *", "@daily", "0 9 * * 1-5", "15 1,2,3 * * *", "0 3 * * 0"), 3*time.Hour
		}
	default:
		d.text, every = pick(r, "FREQ=MINUTELY;INTERVAL=11", "FREQ=HOURLY;BYMINUTE=0,30", "FREQ=DAILY;BYHOUR=2;BYMINUTE=30", "FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=15"), 20*time.Minute
		if long {
			d.text, every = pick(r, "FREQ=DAILY;BYHOUR=2;BYMINUTE=30", "FREQ=HOURLY;INTERVAL=3", "FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=2", "FREQ=DAILY;COUNT=9"), 3*time.Hour
		}
	}
	once := strings.HasPrefix(d.text, "in ")
	if !once {
		if chance(r, 10) {
			d.count = 1 + r.IntN(60)
		}
		if chance(r, 10) {
			d.begin = time.Duration(r.Int64N(int64(s.length) / 3)).Truncate(time.Second)
		}
		if chance(r, 10) {
			d.end = d.begin + time.Duration(r.Int64N(int64(s.length)/2)+int64(time.Hour)).Truncate(time.Second)
		}
	}
	if chance(r, 10) {
		d.delay = time.Duration(r.Int64N(int64(every))).Truncate(time.Millisecond)
	}
	d.takes = pick(r, every/100, every/10, every/3, every, 3*every)
	p := &d.policy
	p.Catchup = pick(r, "", "", "", state.CatchupAll, state.CatchupSkip)
	p.Overlap = pick(r, "", "", state.OverlapQueue, state.OverlapAllow, state.OverlapReplace)
	if chance(r, 20) {
		p.Window = pick(r, every/4, every, 3*every, 20*every).String()
	}
	if chance(r, 20) {
		p.If, d.gated = "gate", 20+r.IntN(60)
	}
	if chance(r, 25) {
		p.Timeout = (pick(r, d.takes/2, d.takes, 2*d.takes, every) + odd(r, time.Second)).String()
	}
	if chance(r, 35) {
		p.Retries, d.failing = 1+r.IntN(4), 20+r.IntN(60)
		p.Backoff = pick(r, "", "1s", (every / 10).String(), every.String())
	}
	p.Rerun = chance(r, 30)
	if chance(r, 5) {
		p.UntilOK, d.failing = true, 90
	}
	if chance(r, 5) {
		p.UntilOutput, d.matching = "x", 5
	}
	if strings.HasPrefix(d.text, "every") && !d.message && chance(r, 10) {
		d.exact, d.takes, d.gated, d.failing, d.delay = true, every, 0, 0, 0
		*p = state.Policy{Overlap: pick(r, "", state.OverlapQueue)}
	}
	if d.message {
		*p = state.Policy{Catchup: p.Catchup, Window: p.Window, Overlap: p.Overlap, If: p.If}
	}
	return d
}

// crowd has, in a few worlds, many tasks fall due together, most of which go on when they are due again, where there are few more places than
// they take.
func (s *script) crowd(r *rand.Rand, zone string) {
	if !chance(r, 2) || !s.calm || s.length > 24*time.Hour {
		return
	}
	s.tasks = nil
	for range 20 + r.IntN(20) {
		s.tasks = append(s.tasks, draft{zone: zone, salt: r.Uint64(), text: "every 20m", takes: 50 * time.Minute})
	}
	for range 4 {
		s.tasks = append(s.tasks, draft{zone: zone, salt: r.Uint64(), text: "in 40m", takes: time.Minute})
	}
	s.parallel = len(s.tasks)
}

// overlapping is the script of a world with many tasks, most of whose runs go on when the next instant comes.
func overlapping(seed uint64, tasks int, calm bool) script {
	r := rand.New(rand.NewPCG(seed, 9))
	night := pick(r, nights...)
	s := script{seed: seed, calm: calm, length: 3 * time.Hour}
	s.start, _ = time.Parse(time.RFC3339, night.at)
	for range tasks {
		d := s.draft(r, night.zone)
		every := time.Duration(3+r.IntN(30)) * time.Minute
		d.text, d.form, d.exact = fmt.Sprintf("every %s", every), "", false
		d.takes = every / 2 * time.Duration(1+r.IntN(10))
		s.tasks = append(s.tasks, d)
	}
	if calm {
		s.news(r)
		s.parallel = 100 * tasks // each finds a place
		s.calmEvents(r)
		// A runner that is told to end waits for what runs, which may be to the end of the play. Of a task that is paused again and again
		// while its run outlasts the play the model cannot tell.
		paused := map[happening]bool{}
		s.events = slices.DeleteFunc(s.events, func(e happening) bool {
			once := happening{task: e.task, what: e.what}
			again := paused[once]
			paused[once] = e.what == "pause" || e.what == "resume"
			return again || e.what == "stop" || e.what == "power"
		})
	} else { // without news: with so many, and retries of all of them, a channel is behind by hours
		s.chaos(r)
		s.parallel = tasks / 4
	}
	slices.SortStableFunc(s.events, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
	return s
}

// news says who is told of the tasks, and what they write.
func (s *script) news(r *rand.Rand) {
	if chance(r, 50) {
		s.standing.Channels = []string{"usual"}
	}
	if chance(r, 20) {
		s.standing.On = pick(r, state.NotifyAlways, state.NotifyFailure, state.NotifyRecovery, state.NotifyNever)
	}
	for i := range s.tasks {
		d := &s.tasks[i]
		if chance(r, 60) {
			d.policy.Notify = pick(r, []string{"a"}, []string{"b"}, []string{"a", "b"}, []string{"c", "a", "c"})
		}
		d.policy.NotifyOn = pick(r, "", "", state.NotifyAlways, state.NotifyFailure, state.NotifyOutput, state.NotifyChange, state.NotifyChange, state.NotifyRecovery, state.NotifyNever)
		d.writing, d.outputs = pick(r, 0, 20, 50, 100), pick(r, 1, 1, 2, 5)
		if d.failing == 0 && !d.exact {
			d.failing = pick(r, 0, 10, 40, 70)
		}
	}
}

// calmEvents are those after which it can be said what becomes of each instant.
func (s *script) calmEvents(r *rand.Rand) {
	for at := odd(r, s.length/3); at < s.length && len(s.events) < 12; {
		e := happening{at: at, what: pick(r, "stop", "stop", "suspend", "power"), d: odd(r, pick(r, time.Minute, time.Hour, s.length/5))}
		if e.what == "power" && !s.noLead {
			e.what = "stop"
		}
		s.events = append(s.events, e)
		at += e.d + odd(r, s.length/3)
	}
	for i := range s.tasks {
		for at := odd(r, s.length); at < s.length && chance(r, 30); at += odd(r, s.length/2) {
			e := happening{at: at, task: i, what: pick(r, "pause", "pause", "rm")}
			if e.what == "pause" && chance(r, 50) {
				e.d = odd(r, s.length/4)
			}
			s.events = append(s.events, e)
			if e.what == "pause" {
				s.events = append(s.events, happening{at: at + odd(r, s.length/4), what: "resume", task: i})
			}
		}
	}
}

// chaos is everything that can happen, at any time.
func (s *script) chaos(r *rand.Rand) {
	if chance(r, 30) {
		s.slow = pick(r, 5*time.Millisecond, 100*time.Millisecond, 3*time.Second)
	}
	if chance(r, 20) {
		s.failing = 1 + r.IntN(100)
	}
	if chance(r, 20) {
		s.parallel = 1 + r.IntN(3)
	}
	if chance(r, 30) {
		s.short = pick(r, 20, 200, 800)
	}
	kinds := []string{"kill", "killall", "power", "crash", "crash", "crash", "crash", "stop", "suspend", "forward", "back", "back", "second",
		"pause", "resume", "rm", "restore", "edit", "fire", "halt", "haltall"}
	switch n := r.IntN(100); {
	case n < 10:
		kinds = []string{"suspend", "forward", "back", "back", "halt"} // nothing but the clock
	case n < 20:
		kinds = []string{"crash"}
	case n < 35:
		kinds = []string{"second", "second", "kill", "killall", "stop", "fire"} // hand-overs
	}
	for range 1 + r.IntN(25) {
		e := happening{at: odd(r, s.length), task: r.IntN(len(s.tasks)), d: odd(r, pick(r, time.Second, time.Minute, time.Hour, s.length/5))}
		switch e.what = pick(r, kinds...); e.what {
		case "crash":
			e.n = r.IntN(12)
			e.d = pick(r, odd(r, time.Second), odd(r, time.Minute), odd(r, s.length/20))
		case "forward":
			e.d = pick(r, odd(r, time.Second), odd(r, time.Hour), odd(r, 48*time.Hour))
		case "back":
			e.d = pick(r, odd(r, 10*time.Second), odd(r, 170*time.Minute), odd(r, 30*time.Hour))
		case "pause":
			if chance(r, 50) {
				e.d = 0
			}
		}
		s.events = append(s.events, e)
	}
}

// wrongClock has the clock, in some worlds, be wrong by much for a while, which often begins and
// ends with the machine or the runner; some of them are kept right by a time server from then on.
func (s *script) wrongClock(r *rand.Rand) {
	if !chance(r, 35) {
		return
	}
	for range 1 + r.IntN(2) {
		by := odd(r, pick(r, 8*time.Hour, 30*time.Hour, 500*24*time.Hour))
		at := odd(r, s.length)
		to := at + odd(r, pick(r, time.Hour, 3*time.Hour, s.length/3))
		wrong, right := pick(r, "forward", "back"), "back"
		if wrong == "back" {
			right = "forward"
		}
		how := pick(r, "stop", "power", "suspend", "")
		if how != "" {
			s.events = append(s.events, happening{at: at - 1, what: how, d: odd(r, time.Minute)})
		}
		s.events = append(s.events, happening{at: at, what: wrong, d: by})
		if chance(r, 70) {
			s.events = append(s.events, happening{at: to, what: right, d: by})
			if chance(r, 60) {
				s.events = append(s.events, happening{at: to + 1, what: "synced"})
			}
		}
	}
}

// task makes the task of a draft at an instant, with its schedule and its first due instant. A draft may have none.
func (d draft) task(now time.Time) (t state.Task, sched *when.Schedule, due time.Time, err error) {
	zone, err := civil.LoadZone(d.zone)
	if err != nil {
		return t, nil, due, err
	}
	o := when.Options{Now: now, Zone: zone, Form: when.Form(d.form), Count: d.count}
	if d.begin != 0 {
		o.Start = now.Add(d.begin)
	}
	if d.end != 0 {
		o.End = now.Add(d.end)
	}
	if sched, err = when.Parse(d.text, o); err != nil {
		return t, nil, due, err
	}
	t = state.Task{Created: now, Policy: d.policy, When: state.Timing{Text: d.text, Form: d.form, Kind: string(sched.Kind), Zone: d.zone, Start: now, End: o.End, Count: d.count}}
	if d.begin != 0 {
		t.When.Start, t.When.Given = o.Start, true
	}
	if d.delay != 0 && sched.Kind != when.Once {
		t.When.Delay = d.delay.String()
		sched = sched.Shifted(d.delay)
	}
	if t.Run.Argv = []string{"true"}; d.message {
		t.Run, t.Text = state.Job{}, "tea"
	}
	if sched.Kind == when.Once {
		return t, nil, sched.At, nil
	}
	due, ok := sched.Next(now)
	if !ok {
		return t, nil, due, fmt.Errorf("%s never comes", d.text)
	}
	return t, sched, due, nil
}

// fate is what becomes of an attempt at an instant: always the same.
func (d draft) fate(due time.Time, attempt int) (f sim.Fate) {
	r := rand.New(rand.NewPCG(d.salt, uint64(due.UnixNano())*31+uint64(max(attempt, 1))))
	f.Takes = d.takes/2 + odd(r, d.takes+time.Second)
	if chance(r, 10) {
		f.Takes *= 4
	}
	if chance(r, d.failing) {
		f.ExitCode = 1
	}
	if chance(r, d.gated) {
		f.Gate = "exit 1"
	}
	f.GateTakes = odd(r, pick(r, time.Millisecond, time.Second, 20*time.Second))
	f.Matched = chance(r, d.matching)
	f.Stubborn = odd(r, pick(r, time.Second, 12*time.Second))
	switch {
	case d.message:
		f.Takes = 0
	case d.exact:
		f.Takes = d.takes
	}
	if !d.message {
		r = rand.New(rand.NewPCG(d.salt+1, uint64(due.UnixNano())*31+uint64(max(attempt, 1))))
		if chance(r, d.writing) {
			f.Stdout = 1 + int64(r.IntN(max(d.outputs, 1)))
		}
		if chance(r, d.writing/5) {
			f.Stderr = 1
		}
		if d.policy.NotifyOn == state.NotifyChange {
			f.Sum = fmt.Sprint("sum", f.Stdout)
		}
	}
	return f
}
