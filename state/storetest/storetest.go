// Package storetest is what every state.Store must pass: the promises of its doc comments, one test
// each.
package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Trait is a promise that some stores do not make.
type Trait string

// Presence: who waits for a task is seen by all who read it.
const Presence Trait = "presence"

// Run holds a store to the promises of state.Store. open returns a handle on a store: calls with
// the same t return handles on the same store, as two processes have them; another t gets an empty
// one. The store asks limits for its Limits. Of the promises it makes all but those named.
func Run(t *testing.T, open func(t *testing.T, limits func() (state.Limits, error)) state.Store, without ...Trait) {
	traits := map[string]Trait{"who waits is seen, and hears the end": Presence}
	for _, c := range []struct {
		name string
		test func(*testing.T, *bench)
	}{
		{"an empty store answers", testEmpty},
		{"add keeps every field", testAddKeeps},
		{"add refuses what cannot be kept", testAddRefuses},
		{"what a caller holds is the caller's", testOwn},
		{"ids are never used twice", testIDs},
		{"find by id and by prefix", testFind},
		{"list in order and by phase", testList},
		{"a listing is in order and is left at any time", testListing},
		{"each comes once and may be changed", testEach},
		{"many are found as each alone", testFinder},
		{"asking what would be changes nothing", testDry},
		{"next and due by", testDue},
		{"move changes the due instant", testMove},
		{"after the clock was put back nothing is granted twice", testRewind},
		{"what is known of the clock is noted", testClockShift},
		{"the trouble of a runner is noted", testTrouble},
		{"claim moves on and ends", testClaim},
		{"claim is granted to one", testClaimRace},
		{"claim refuses what has ended", testClaimEnded},
		{"a claim numbers its occurrence", testNumbers},
		{"started is seen by others", testStarted},
		{"end happens once", testEnd},
		{"end in any order", testEndOrder},
		{"skip writes one line", testSkip},
		{"skip and claim exclude each other", testSkipRace},
		{"remove and restore", testRemoveRestore},
		{"remove lets a run go on", testRemoveRunning},
		{"a key is one task's", testKeys},
		{"a key is taken while its task lives", testKeyLives},
		{"a key is given to one", testKeyRace},
		{"a key is never two tasks'", testKeyChurn},
		{"many are added as each alone", testAddAll},
		{"many at once lose nothing", testAddMany},
		{"no more tasks of an origin wait than may", testPendingLimit},
		{"no more tasks of an origin are made within an hour than may", testHourLimit},
		{"no more tasks wait than may", testTasksLimit},
		{"many are held to the limits as each alone", testLimitsOfMany},
		{"a dry run adds up to the limits", testLimitsOfDryRun},
		{"limits hold for those who add at once", testLimitRace},
		{"update replaces what was read", testUpdate},
		{"update is granted to one", testUpdateRace},
		{"pause and resume", testPause},
		{"paused tasks are due when they resume", testPauseDue},
		{"pause and claim exclude each other", testPauseRace},
		{"release gives a claim back", testRelease},
		{"a claim that was given back is granted to one", testReleaseRace},
		{"a change says what was given before it", testGiven},
		{"log is newest first", testLog},
		{"a reader of the ledger goes on where it was", testAfter},
		{"the ledger is asked for one occurrence", testOccurrence},
		{"watching the ledger tells", testWatchLog},
		{"output is written, read and dropped", testOutput},
		{"output is trimmed", testTrim},
		{"our own answers are counted apart", testOurs},
		{"a script has a file", testScratch},
		{"what is old is forgotten", testPrune},
		{"ends make mail once", testMail},
		{"the text of a task is in the ledger once", testText},
		{"items come in order and readers keep their place", testInbox},
		{"what is taken is nobody else's until its lease runs out", testTake},
		{"two never take the same", testTakers},
		{"notices wait, are postponed and end with a line", testOutbox},
		{"the inbox has bounds", testPruneInbox},
		{"watching mail tells", testWatchMail},
		{"one leads", testLead},
		{"looking keeps no leader out", testLedRace},
		{"who follows is told", testFollow},
		{"a cancelled context ends the call", testCancelled},
		{"writers at once lose nothing", testWriters},
		{"who waits is seen, and hears the end", testAnnounce},
		{"a wait is held, and goes on with what is left", testHold},
		{"agents are noted", testAgents},
		{"nothing is set aside that can be read", testQuarantine},
	} {
		t.Run(c.name, func(t *testing.T) {
			if slices.Contains(without, traits[c.name]) {
				t.Skip("not promised:", traits[c.name])
			}
			b := &bench{T: t, ctx: t.Context()}
			limits := func() (state.Limits, error) { return b.limits, nil }
			b.a, b.b = open(t, limits), open(t, limits)
			c.test(t, b)
		})
	}
}

// base is when the tests begin: a Monday, in a zone with an offset.
var base = time.Date(2026, 11, 23, 9, 0, 0, 0, time.FixedZone("CET", 3600))

// bench is two handles on one store, and verbs that fail the test.
type bench struct {
	*testing.T
	a, b   state.Store
	ctx    context.Context
	limits state.Limits // in force for both
}

// oneShot is a command that runs once.
func oneShot(text string) state.Task {
	return state.Task{
		Description: text,
		Created:     base,
		When:        state.Timing{Text: "in 1h", Kind: "once", Zone: "Europe/Warsaw", Start: base},
		Run:         state.Job{Argv: []string{"true"}, Dir: "/", Umask: 0o22},
	}
}

// daily is a command that recurs.
func daily(text string) state.Task {
	t := oneShot(text)
	t.When = state.Timing{Text: "0 9 * * *", Form: "cron", Kind: "cron", Zone: "Europe/Warsaw", Start: base}
	return t
}

// self is a process that claims.
var self = state.Ident{PID: 4711, Start: 123456, Boot: "b00t", NS: "pid:[4026531836]"}

func (b *bench) add(t state.Task, due time.Time) state.Entry {
	b.Helper()
	e, err := b.a.Add(b.ctx, t, due)
	if err != nil {
		b.Fatalf("add: %v", err)
	}
	return e
}

func (b *bench) claim(id string, due, next time.Time) state.Record {
	b.Helper()
	r, err := b.a.Claim(b.ctx, id, due, next, self, due)
	if err != nil {
		b.Fatalf("claim %s of %v: %v", id, due, err)
	}
	return r
}

func (b *bench) end(r state.Record, o state.Outcome) {
	b.Helper()
	if err := b.b.End(b.ctx, r, line(r, o)); err != nil {
		b.Fatalf("end: %v", err)
	}
}

// line is how a claim ended, a second after it was due.
func line(r state.Record, o state.Outcome) state.Line {
	ended := r.Due.Add(time.Second)
	code := 0
	return state.Line{Type: state.LineOccurrence, At: ended, TaskID: r.Task.ID, Number: r.Number, Count: 1, Due: &r.Due, Outcome: o,
		Started: &r.Due, Ended: &ended, Attempts: 1, ExitCode: &code}
}

// find returns the one task with the ID, as the other handle sees it.
func (b *bench) find(id string) state.Entry {
	b.Helper()
	l, err := b.b.Find(b.ctx, id)
	if err != nil || len(l) != 1 {
		b.Fatalf("find %s: %d tasks, %v", id, len(l), err)
	}
	return l[0]
}

// dueBy is state.DueBy, at most so many of them; 0: all.
func dueBy(ctx context.Context, st state.Tasks, t time.Time, most int) (list []state.Entry, problems []state.Problem, err error) {
	problems, err = state.DueBy(ctx, st, t, func(e state.Entry) bool {
		list = append(list, e)
		return len(list) != most
	})
	return list, problems, err
}

func (b *bench) list(phases ...state.Phase) []state.Entry {
	b.Helper()
	l, problems, err := state.All(b.ctx, b.b, phases...)
	if err != nil || len(problems) > 0 {
		b.Fatalf("list: %v, %v", problems, err)
	}
	return l
}

func (b *bench) open() []state.Record {
	b.Helper()
	l, problems, err := b.b.Open(b.ctx)
	if err != nil || len(problems) > 0 {
		b.Fatalf("open: %v, %v", problems, err)
	}
	return l
}

// log returns the ledger, newest first.
func (b *bench) log(id string) (lines []state.Line) {
	b.Helper()
	_, problems, err := b.b.Log(b.ctx, id, func(l state.Line) bool {
		lines = append(lines, l)
		return true
	})
	if err != nil || len(problems) > 0 {
		b.Fatalf("log: %v, %v", problems, err)
	}
	return lines
}

// outcomes returns the outcomes in the ledger, oldest first.
func (b *bench) outcomes(id string) (list []state.Outcome) {
	b.Helper()
	for _, l := range b.log(id) {
		if l.Type == state.LineOccurrence {
			list = append(list, l.Outcome)
		}
	}
	slices.Reverse(list)
	return list
}

func (b *bench) phase(id string, want state.Phase, due time.Time) {
	b.Helper()
	if e := b.find(id); e.Phase != want || !e.Due.Equal(due) {
		b.Errorf("%s is %s and due %v, want %s and %v", id, e.Phase, e.Due, want, due)
	}
}

func (b *bench) is(what string, err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

// ok ends the test if what the rest of it builds on has failed.
func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// must is ok for a call that returns a value.
func must[T any](b *bench) func(v T, err error) T {
	return func(v T, err error) T {
		b.Helper()
		b.ok(err)
		return v
	}
}

func ids(list []state.Entry) (out []string) {
	for _, e := range list {
		out = append(out, e.Task.ID)
	}
	return out
}

// hour is n hours after base.
func hour(n int) time.Time { return base.Add(time.Duration(n) * time.Hour) }

// together calls f for n hands at once, with one handle or the other, and waits for all.
func (b *bench) together(n int, f func(hand int, s state.Store)) {
	var wg sync.WaitGroup
	for h := range n {
		wg.Go(func() { f(h, []state.Store{b.a, b.b}[h%2]) })
	}
	wg.Wait()
}

// heard waits for a signal.
func (b *bench) heard(signal <-chan struct{}, what string) {
	b.Helper()
	select {
	case <-signal:
	case <-time.After(20 * time.Second):
		b.Fatalf("nothing was heard of %s", what)
	}
}
