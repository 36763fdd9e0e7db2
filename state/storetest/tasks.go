package storetest

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

func testEmpty(t *testing.T, b *bench) {
	if l := b.list(); len(l) != 0 {
		t.Errorf("list: %v", l)
	}
	if l := b.open(); len(l) != 0 {
		t.Errorf("open: %v", l)
	}
	if l := b.log(""); len(l) != 0 {
		t.Errorf("log: %v", l)
	}
	_, err := b.a.Find(b.ctx, "k7")
	b.is("find", err, state.ErrNotFound)
	_, err = b.a.Find(b.ctx, "")
	b.is("find nothing", err, state.ErrNotFound)
	if at, ok, err := state.Next(b.ctx, b.a, time.Time{}); ok || err != nil {
		t.Errorf("next: %v %v %v", at, ok, err)
	}
	if l, p, err := dueBy(b.ctx, b.a, hour(1), 0); len(l)+len(p) != 0 || err != nil {
		t.Errorf("due by: %v %v %v", l, p, err)
	}
	if who, led, err := b.a.Led(b.ctx); led || err != nil {
		t.Errorf("led: %v %v %v", who, led, err)
	}
	if p, err := b.a.Quarantine(b.ctx, 0); len(p) != 0 || err != nil {
		t.Errorf("set aside: %v %v", p, err)
	}
	_, err = b.a.Remove(b.ctx, "k7m2", hour(0))
	b.is("remove", err, state.ErrNotFound)
	_, err = b.a.Restore(b.ctx, "k7m2", hour(1), hour(0))
	b.is("restore", err, state.ErrNotFound)
}

func testAddKeeps(t *testing.T, b *bench) {
	task := state.Task{
		Created:     base,
		Description: "news, with \"quotes\", a tab\t, ünïcode ☕ and a\nline",
		Text:        "payload\x1b[31m with control characters \x00\x7f",
		When: state.Timing{Text: "every weekday at 9am", Form: "every", Kind: "rrule", Zone: "Europe/Warsaw", Wall: "2026-11-23T09:00:00",
			Start: base, Given: true, End: hour(1000), Count: 7},
		Run: state.Job{Shell: "echo $HOME\n", Prog: "/bin/sh", Dir: "/tmp/a b", Umask: 0o77,
			Env: map[string]string{"PATH": "/bin", "A.B": "x=y", "EMPTY": "", "NL": "a\nb\r\n"}},
		Terminal: "/dev/pts/3",
		Origin:   state.ID(1000),
	}
	due := time.Date(2026, 11, 24, 9, 0, 0, 123456789, base.Location())
	e := b.add(task, due)
	if e.Task.ID == "" || e.Task.Revision != 1 || e.Task.Format != state.Format || e.Phase != state.Pending || !e.Due.Equal(due) {
		t.Errorf("add returned %+v", e)
	}
	got := b.find(e.Task.ID)
	if !reflect.DeepEqual(got.Task, e.Task) || !got.Due.Equal(due) || got.Phase != state.Pending {
		t.Errorf("found\n%+v\nwant\n%+v", got, e)
	}
	for name, pair := range map[string][2]time.Time{"created": {got.Task.Created, task.Created}, "start": {got.Task.When.Start, base},
		"end": {got.Task.When.End, hour(1000)}} {
		if !pair[0].Equal(pair[1]) {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
	want, have := task, got.Task
	for _, k := range []*state.Task{&want, &have} {
		k.ID, k.Format, k.Revision, k.Created, k.When.Start, k.When.End = "", 0, 0, time.Time{}, time.Time{}, time.Time{}
	}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("kept\n%+v\nwant\n%+v", have, want)
	}
	l := b.log(e.Task.ID)
	if len(l) != 1 || l[0].Type != state.LineTask || l[0].Event != "created" || l[0].TaskID != e.Task.ID || l[0].When != task.When.Text ||
		l[0].Zone != task.When.Zone || l[0].Origin != task.Origin || l[0].Due == nil || !l[0].Due.Equal(due) || !l[0].At.Equal(base) {
		t.Errorf("the ledger says %+v", l)
	}
	argv := oneShot("direct")
	argv.Run.Argv = []string{"printf", "%s\n", "", "a b", "-n", "--", "☕"}
	e = b.add(argv, hour(1))
	if got := b.find(e.Task.ID).Task.Run.Argv; !slices.Equal(got, argv.Run.Argv) {
		t.Errorf("command %q, want %q", got, argv.Run.Argv)
	}
	script := oneShot("script")
	script.Run = state.Job{Script: "#!/bin/sh\n# end\necho '''\n\"\"\"\n", Prog: "/bin/sh", Dir: "/"}
	e = b.add(script, hour(1))
	if got := b.find(e.Task.ID).Task.Run; !reflect.DeepEqual(got, script.Run) {
		t.Errorf("script %+v, want %+v", got, script.Run)
	}
}

func testAddRefuses(t *testing.T, b *bench) {
	bad := map[string]func(*state.Task){
		"text that is no UTF-8":        func(k *state.Task) { k.Text = "caf\xe9" },
		"an argument that is no UTF-8": func(k *state.Task) { k.Run.Argv = []string{"a", "\xff"} },
		"a variable that is no UTF-8":  func(k *state.Task) { k.Run.Env = map[string]string{"A": "\xc3"} },
		"a name that is no UTF-8":      func(k *state.Task) { k.Run.Env = map[string]string{"\xc3": "a"} },
		"a text without end":           func(k *state.Task) { k.Text = strings.Repeat("x", 100<<20) },
		"an end after all years":       func(k *state.Task) { k.When.End = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) },
	}
	for name, spoil := range bad {
		task := oneShot(name)
		spoil(&task)
		_, err := b.a.Add(b.ctx, task, hour(1))
		b.is(name, err, state.ErrInvalid)
	}
	for _, year := range []int{-1, 0, 10000} {
		_, err := b.a.Add(b.ctx, oneShot("far"), time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC))
		b.is("a due instant out of range", err, state.ErrInvalid)
	}
	if l := b.list(); len(l) != 0 {
		t.Errorf("refused and still there: %v", l)
	}
	if l := b.log(""); len(l) != 0 {
		t.Errorf("refused and still in the ledger: %v", l)
	}
	for _, year := range []int{1, 9999} {
		due := time.Date(year, 6, 1, 0, 0, 0, 1, time.UTC)
		b.phase(b.add(oneShot("edge"), due).Task.ID, state.Pending, due)
	}
	large := oneShot("large")
	large.Text = strings.Repeat("é", 250_000)
	if got := b.find(b.add(large, hour(1)).Task.ID); got.Task.Text != large.Text {
		t.Errorf("of %d bytes %d came back", len(large.Text), len(got.Task.Text))
	}
}

func testOwn(t *testing.T, b *bench) {
	task := daily("n")
	task.Run.Argv, task.Run.Env = []string{"true"}, map[string]string{"A": "1"}
	spoil := func(k *state.Task) { k.Run.Argv[0], k.Run.Env["A"] = "false", "2" }
	e := b.add(task, hour(1))
	id := e.Task.ID
	spoil(&task)
	spoil(&e.Task)
	e = b.find(id)
	spoil(&e.Task)
	r := b.claim(id, hour(1), hour(25))
	want := b.find(id).Task
	if want.Run.Argv[0] != "true" || want.Run.Env["A"] != "1" {
		t.Errorf("kept %+v", want.Run)
	}
	spoil(&r.Task)
	e = b.find(id)
	spoil(&e.Open[0].Task)
	o := b.open()
	spoil(&o[0].Task)
	if got := b.open()[0].Task; !reflect.DeepEqual(got, want) {
		t.Errorf("the claim's task is\n%+v\nwant\n%+v", got, want)
	}
	l := line(r, state.OK)
	b.ok(b.a.End(b.ctx, r, l))
	*l.ExitCode, *l.Ended = 9, hour(9)
	got := b.log(id)[0]
	*got.ExitCode, *got.Due = 9, hour(9)
	if got := b.log(id)[0]; *got.ExitCode != 0 || !got.Due.Equal(hour(1)) || got.Ended.Equal(hour(9)) {
		t.Errorf("the line is %+v", got)
	}
}

func testIDs(t *testing.T, b *bench) {
	seen := map[string]bool{}
	for i := range 40 {
		s := []state.Store{b.a, b.b}[i%2]
		e := must[state.Entry](b)(s.Add(b.ctx, oneShot("n"), hour(1)))
		if id := e.Task.ID; seen[id] || len(id) < 4 || id != strings.ToLower(id) {
			t.Errorf("ID %q was used before or is not an ID", id)
		}
		seen[e.Task.ID] = true
		if i%3 == 0 {
			must[state.Entry](b)(s.Remove(b.ctx, e.Task.ID, hour(0)))
		}
	}
	// A mistyped ID is never another task's.
	for id := range seen {
		for i := range len(id) {
			for _, c := range "abcdefghijklmnopqrstuvwxyz0123456789" {
				if wrong := id[:i] + string(c) + id[i+1:]; wrong != id && seen[wrong] {
					t.Errorf("%s and %s differ in one symbol", id, wrong)
				}
			}
		}
	}
}

func testFind(t *testing.T, b *bench) {
	var all []string
	for range 60 {
		all = append(all, b.add(oneShot("n"), hour(1)).Task.ID)
	}
	slices.Sort(all)
	for _, id := range all {
		if e := b.find(id); e.Task.ID != id {
			t.Errorf("find %s found %s", id, e.Task.ID)
		}
		var want []string
		for _, other := range all {
			if other[0] == id[0] {
				want = append(want, other)
			}
		}
		l, err := b.b.Find(b.ctx, id[:1])
		if err != nil || !slices.Equal(ids(l), want) {
			t.Errorf("find %s: %v %v, want %v", id[:1], ids(l), err, want)
		}
	}
	gone := all[0]
	must[state.Entry](b)(b.a.Remove(b.ctx, gone, hour(0)))
	b.phase(gone, state.Removed, hour(1))
	for _, none := range []string{"0", "K7", "????", "..", "../x", all[1] + "a", strings.Repeat("a", 300)} {
		_, err := b.a.Find(b.ctx, none)
		b.is("find "+none, err, state.ErrNotFound)
	}
}

func testList(t *testing.T, b *bench) {
	third := b.add(oneShot("third"), hour(3)).Task.ID
	first := b.add(oneShot("first"), hour(1)).Task.ID
	second := b.add(daily("second"), hour(2)).Task.ID
	gone := b.add(oneShot("gone"), hour(4)).Task.ID
	must[state.Entry](b)(b.a.Remove(b.ctx, gone, hour(0)))
	check := func(want []string, phases ...state.Phase) {
		t.Helper()
		if got := ids(b.list(phases...)); !slices.Equal(got, want) {
			t.Errorf("list %v: %v, want %v", phases, got, want)
		}
	}
	check([]string{first, second, third}, state.Pending)
	check([]string{gone}, state.Removed)
	check([]string{first, second, third, gone})
	check(nil, state.Running)
	one := b.claim(first, hour(1), time.Time{})
	two := b.claim(second, hour(2), hour(26))
	check([]string{third}, state.Pending)
	check([]string{first, second}, state.Running)
	check([]string{third, second}, func() []state.Phase { b.end(one, state.OK); return []state.Phase{state.Pending, state.Running} }()...)
	check([]string{first}, state.Ended)
	if e := b.find(second); len(e.Open) != 1 || e.Open[0].Number != two.Number || e.Phase != state.Running || !e.Due.Equal(hour(26)) {
		t.Errorf("a recurring task that runs: %+v", e)
	}
	b.end(two, state.Failed)
	e := b.list(state.Pending)[1]
	if e.Task.ID != second || e.Tally.Fired != 1 || e.Tally.Number != 1 || e.Tally.Last != "failed" || len(e.Open) != 0 {
		t.Errorf("after its run: %+v", e)
	}
}

func testDue(t *testing.T, b *bench) {
	due := map[int]string{}
	for _, h := range []int{5, 1, 3, 2, 4} {
		due[h] = b.add(oneShot("n"), hour(h)).Task.ID
	}
	check := func(at time.Time, limit int, want ...string) {
		t.Helper()
		l, p, err := dueBy(b.ctx, b.b, at, limit)
		if err != nil || len(p) > 0 || !slices.Equal(ids(l), want) {
			t.Errorf("due by %v: %v %v %v, want %v", at, ids(l), p, err, want)
		}
	}
	check(hour(0), 0)
	check(hour(1).Add(-1), 0)
	check(hour(1), 0, due[1])
	check(hour(3), 0, due[1], due[2], due[3])
	check(hour(9), 2, due[1], due[2])
	check(time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC), 1, due[1])
	next := func(after, want time.Time) {
		t.Helper()
		if at, ok, err := state.Next(b.ctx, b.b, after); err != nil || ok == want.IsZero() || !at.Equal(want) {
			t.Errorf("next after %v: %v %v %v, want %v", after, at, ok, err, want)
		}
	}
	next(time.Time{}, hour(1))
	next(hour(1), hour(2))
	next(hour(2).Add(-1), hour(2))
	next(hour(5), time.Time{})
	b.claim(due[1], hour(1), time.Time{})
	next(time.Time{}, hour(2))
	check(hour(2), 0, due[2])
}

func testRemoveRestore(t *testing.T, b *bench) {
	id := b.add(daily("n"), hour(1)).Task.ID
	_, err := b.a.Restore(b.ctx, id, hour(2), hour(0))
	b.is("restore what is pending", err, state.ErrEnded)
	e, err := b.a.Remove(b.ctx, id, hour(0))
	if err != nil || e.Phase != state.Removed || e.Task.ID != id || !e.Due.Equal(hour(1)) {
		t.Fatalf("remove: %+v %v", e, err)
	}
	b.phase(id, state.Removed, hour(1))
	_, err = b.b.Remove(b.ctx, id, hour(0))
	b.is("remove twice", err, state.ErrEnded)
	_, err = b.b.Claim(b.ctx, id, hour(1), hour(25), self, hour(1))
	b.is("claim what was removed", err, state.ErrTaken)
	b.is("skip what was removed", b.b.Skip(b.ctx, id, hour(1), hour(25), state.Line{Outcome: state.Missed}), state.ErrTaken)
	e, err = b.b.Restore(b.ctx, id, hour(3), hour(0))
	if err != nil || e.Phase != state.Pending || !e.Due.Equal(hour(3)) {
		t.Fatalf("restore: %+v %v", e, err)
	}
	b.phase(id, state.Pending, hour(3))
	_, err = b.b.Restore(b.ctx, id, hour(4), hour(0))
	b.is("restore twice", err, state.ErrEnded)
	var events []string
	for _, l := range b.log(id) {
		events = append(events, l.Event)
	}
	if !slices.Equal(events, []string{"restored", "removed", "created"}) {
		t.Errorf("the ledger says %v", events)
	}
	// An instant that has ended is not restored.
	b.end(b.claim(id, hour(3), hour(27)), state.OK)
	must[state.Entry](b)(b.a.Remove(b.ctx, id, hour(4)))
	_, err = b.a.Restore(b.ctx, id, hour(3), hour(4))
	b.is("restore to what has ended", err, state.ErrTaken)
	if _, err = b.a.Restore(b.ctx, id, hour(5), hour(4)); err != nil {
		t.Error(err)
	}
	once := b.add(oneShot("n"), hour(1)).Task.ID
	b.end(b.claim(once, hour(1), time.Time{}), state.OK)
	_, err = b.a.Remove(b.ctx, once, hour(2))
	b.is("remove what has ended", err, state.ErrEnded)
	_, err = b.a.Restore(b.ctx, once, hour(3), hour(2))
	b.is("restore what has ended", err, state.ErrEnded)
}

func testRemoveRunning(t *testing.T, b *bench) {
	for _, c := range []struct {
		task state.Task
		next time.Time
		due  time.Time
	}{{oneShot("once"), time.Time{}, hour(1)}, {daily("daily"), hour(25), hour(25)}} {
		id := b.add(c.task, hour(1)).Task.ID
		r := b.claim(id, hour(1), c.next)
		if _, err := b.b.Remove(b.ctx, id, hour(1)); err != nil {
			t.Fatalf("remove what runs: %v", err)
		}
		b.phase(id, state.Removed, c.due)
		if o := b.find(id).Open; len(o) != 1 || o[0].Number != r.Number {
			t.Errorf("its run is %+v", o)
		}
		_, err := b.a.Restore(b.ctx, id, hour(1), hour(1))
		b.is("restore to the instant that runs", err, state.ErrTaken)
		b.end(r, state.OK)
		b.phase(id, state.Removed, c.due)
		_, err = b.b.Remove(b.ctx, id, hour(2))
		b.is("remove again", err, state.ErrEnded)
		if got := b.outcomes(id); !slices.Equal(got, []state.Outcome{state.OK}) {
			t.Errorf("outcomes %v", got)
		}
	}
}

func testWriters(t *testing.T, b *bench) {
	const writers, each = 6, 15
	var mu sync.Mutex
	want := map[string]state.Phase{}
	var wg sync.WaitGroup
	for w := range writers {
		s := []state.Store{b.a, b.b}[w%2]
		wg.Go(func() {
			for i := range each {
				e, err := s.Add(b.ctx, oneShot("n"), hour(i))
				if err != nil {
					t.Error(err)
					return
				}
				phase := state.Pending
				if i%3 == 0 {
					if _, err := s.Remove(b.ctx, e.Task.ID, hour(0)); err != nil {
						t.Error(err)
					}
					phase = state.Removed
				}
				mu.Lock()
				if want[e.Task.ID] != "" {
					t.Errorf("ID %s was given twice", e.Task.ID)
				}
				want[e.Task.ID] = phase
				mu.Unlock()
			}
		})
	}
	// Who lists meanwhile sees whole tasks, each once.
	stop := make(chan struct{})
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		for {
			l, p, err := state.All(b.ctx, b.a)
			if err != nil || len(p) > 0 {
				t.Errorf("list among writers: %v %v", p, err)
			}
			seen := map[string]bool{}
			for _, e := range l {
				if seen[e.Task.ID] {
					t.Errorf("%s is listed twice", e.Task.ID)
				}
				seen[e.Task.ID] = true
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	wg.Wait()
	close(stop)
	<-listed
	got := b.list()
	if len(got) != len(want) {
		t.Errorf("%d tasks, want %d", len(got), len(want))
	}
	for _, e := range got {
		if e.Phase != want[e.Task.ID] {
			t.Errorf("%s is %s, want %s", e.Task.ID, e.Phase, want[e.Task.ID])
		}
	}
}

func testQuarantine(t *testing.T, b *bench) {
	id := b.add(oneShot("n"), hour(1)).Task.ID
	if p, err := b.a.Quarantine(b.ctx, 0); err != nil || len(p) > 0 {
		t.Errorf("set aside: %v %v", p, err)
	}
	b.phase(id, state.Pending, hour(1))
}
