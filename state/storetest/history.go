package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// after returns what the ledger has after a place, of a task or of all, and where that ends.
func (b *bench) after(taskID string, from state.Place) (lines []state.Line, end state.Place) {
	b.Helper()
	end, problems, err := b.b.After(b.ctx, taskID, from, func(l state.Line) bool {
		lines = append(lines, l)
		return true
	})
	if err != nil || len(problems) > 0 {
		b.Fatalf("after %v: %v, %v", from, problems, err)
	}
	return lines, end
}

// place is where the ledger ends.
func (b *bench) place() state.Place {
	b.Helper()
	end, problems, err := b.a.Log(b.ctx, "", func(state.Line) bool { return false })
	if err != nil || len(problems) > 0 {
		b.Fatalf("the end of the ledger: %v, %v", problems, err)
	}
	return end
}

// numbers are those of lines.
func numbers(lines []state.Line) (list []int) {
	for _, l := range lines {
		list = append(list, l.Number)
	}
	return list
}

func testAfter(t *testing.T, b *bench) {
	empty := b.place()
	if lines, end := b.after("", empty); len(lines) != 0 || end != empty {
		t.Errorf("an empty ledger has %d lines and ends at %v, not %v", len(lines), end, empty)
	}
	id, other := b.add(daily("n"), hour(0)).Task.ID, b.add(oneShot("other"), hour(9)).Task.ID
	begun := b.place()
	b.end(b.claim(id, hour(0), hour(1)), state.OK)
	middle := b.place()
	b.end(b.claim(other, hour(9), time.Time{}), state.OK)
	b.end(b.claim(id, hour(1), hour(2)), state.Failed)
	end := b.place()

	all, at := b.after("", state.Place{})
	if backwards := b.log(""); at != end || len(all) != 5 || len(backwards) != 5 || all[0].TaskID != backwards[4].TaskID || all[4].TaskID != backwards[0].TaskID {
		t.Errorf("from the beginning %d lines, to %v", len(all), at)
	}
	if lines, at := b.after(id, begun); !slices.Equal(numbers(lines), []int{1, 2}) || at != end {
		t.Errorf("of the task come %v, to %v", numbers(lines), at)
	}
	if lines, at := b.after("", middle); len(lines) != 2 || lines[0].TaskID != other || lines[1].TaskID != id || at != end {
		t.Errorf("from the middle come %+v, to %v", lines, at)
	}
	if lines, at := b.after("", end); len(lines) != 0 || at != end {
		t.Errorf("after the end come %d lines, to %v", len(lines), at)
	}
	if lines, at := b.after("", state.Place{Part: end.Part + 1, Offset: 7}); len(lines) != 0 || at != end {
		t.Errorf("beyond the end come %d lines, to %v", len(lines), at)
	}
	if p, err := state.ParsePlace(middle.String()); err != nil || p != middle {
		t.Errorf("%v is read as %v: %v", middle, p, err)
	}

	var step []state.Line // one by one it is the same
	for at := (state.Place{}); ; {
		n := len(step)
		next, _, err := b.a.After(b.ctx, "", at, func(l state.Line) bool { step = append(step, l); return false })
		if err != nil {
			t.Fatal(err)
		}
		if at = next; len(step) == n {
			break
		}
	}
	if !slices.Equal(numbers(step), numbers(all)) {
		t.Errorf("one by one come %v, not %v", numbers(step), numbers(all))
	}
	if g, some, err := b.b.Gone(b.ctx); g != (state.Gone{}) || some || err != nil {
		t.Errorf("of a whole ledger is gone %+v %v %v", g, some, err)
	}
}

func testOccurrence(t *testing.T, b *bench) {
	id := b.add(daily("n"), hour(0)).Task.ID
	b.end(b.claim(id, hour(0), hour(1)), state.OK)
	due, last := hour(1), hour(3)
	skipped := state.Line{Type: state.LineOccurrence, At: hour(4), TaskID: id, Count: 3, Due: &due, DueLast: &last, Outcome: state.Missed}
	b.ok(b.a.Skip(b.ctx, id, hour(1), hour(4), skipped))
	b.end(b.claim(id, hour(4), hour(5)), state.Failed)
	for number, want := range map[int][]int{1: {1}, 2: {2}, 3: {2}, 4: {2}, 5: {5}, 6: nil} {
		var got []int
		end, known, problems, err := b.b.Occurrence(b.ctx, id, number, func(l state.Line) bool {
			if l.Type != state.LineTask {
				got = append(got, l.Number)
			}
			return true
		})
		if !slices.Equal(got, want) || end != b.place() || !known || len(problems) > 0 || err != nil {
			t.Errorf("occurrence %d: lines %v to %v, known %v; %v %v", number, got, end, known, problems, err)
		}
	}
	if _, known, _, err := b.b.Occurrence(b.ctx, state.ID(99), 1, func(state.Line) bool { return true }); known || err != nil {
		t.Errorf("a task that never was: known %v, %v", known, err)
	}
}

func testWatchLog(t *testing.T, b *bench) {
	id := b.add(daily("n"), hour(0)).Task.ID
	for _, of := range []string{"", id} {
		ctx, stop := context.WithCancel(b.ctx)
		signal := must[<-chan struct{}](b)(b.a.WatchLog(ctx, of))
		heard := func(what string, seen func() bool) {
			t.Helper()
			limit := time.After(20 * time.Second)
			for !seen() {
				select {
				case <-signal:
				case <-limit:
					t.Fatalf("nothing was heard of %s", what)
				}
			}
		}
		e := b.find(id)
		r := b.claim(id, e.Due, e.Due.Add(time.Hour))
		if of == id {
			heard("a claim", func() bool { return len(b.open()) == 1 })
		}
		before := len(b.log(""))
		told := make(chan error, 1)
		go func() { told <- b.b.End(b.ctx, r, line(r, state.OK)) }()
		heard("a line", func() bool { return len(b.log("")) > before })
		if err := <-told; err != nil {
			t.Error(err)
		}
		stop()
	}
}

func testAgents(t *testing.T, b *bench) {
	noted := func(want ...int) {
		t.Helper()
		all, err := b.b.Agents(b.ctx)
		// they come in any order
		slices.SortFunc(all, func(a, b state.Agents) int { return a.Runner.PID - b.Runner.PID })
		var got []int
		for _, a := range all {
			for _, p := range a.Processes {
				got = append(got, a.Runner.PID, p.PID)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("noted are %v, %v, want %v", got, err, want)
		}
	}
	note := func(runner int, pids ...int) {
		t.Helper()
		a := state.Agents{Runner: state.Ident{PID: runner, Start: 5, Boot: "b00t"}}
		for _, pid := range pids {
			a.Processes = append(a.Processes, state.AgentProcess{Ident: state.Ident{PID: pid, Start: 6, Boot: "b00t"}, Program: "agent --all"})
		}
		if err := b.a.NoteAgents(b.ctx, a); err != nil {
			t.Error(err)
		}
	}
	noted()
	note(100, 7)
	noted(100, 7)
	note(200, 9)
	noted(100, 7, 200, 9)
	note(100)
	noted(200, 9)
	note(200, 8, 9)
	noted(200, 8, 200, 9)
	note(200)
	note(200)
	noted()
}

func testFinder(t *testing.T, b *bench) {
	e := b.add(oneShot("n"), hour(1))
	find, err := b.b.Finder(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := find(b.ctx, e.Task.ID); err != nil || len(list) != 1 || list[0].Task.ID != e.Task.ID {
		t.Errorf("%d tasks, %v", len(list), err)
	}
	_, err = find(b.ctx, state.ID(99))
	b.is("what is not there", err, state.ErrNotFound)
	must[state.Entry](b)(b.a.Remove(b.ctx, e.Task.ID, hour(0)))
	if list, err := find(b.ctx, e.Task.ID); err != nil || len(list) != 1 || list[0].Phase != state.Removed {
		t.Errorf("after a change %+v, %v", list, err)
	}
}

// testDry asks for what would be done, and then does it: the answers are alike, and asking changes
// nothing.
func testDry(t *testing.T, b *bench) {
	keyed := oneShot("n")
	keyed.Key = "tea"
	drafts := []state.Draft{{Task: keyed, Due: hour(1)}, {Task: keyed, Due: hour(2)}, {Task: oneShot("other"), Due: hour(3)}, {Task: oneShot("never")}}
	dry := b.a.Dry()
	would := dry.AddAll(b.ctx, drafts)
	if len(b.list()) != 0 || len(b.log("")) != 0 {
		t.Error("asking has added something")
	}
	for i, a := range b.a.AddAll(b.ctx, drafts) {
		if w := would[i]; (w.Err == nil) != (a.Err == nil) || !w.Entry.Due.Equal(a.Entry.Due) || w.Entry.Phase != a.Entry.Phase || w.Entry.Task.ID != "" {
			t.Errorf("draft %d would be %+v, and is %+v", i, w, a)
		}
	}
	_, err := dry.Add(b.ctx, keyed, hour(4))
	b.is("a key that an earlier draft would have", err, state.ErrKept)
	_, err = b.a.Dry().Add(b.ctx, keyed, hour(4))
	b.is("a key that is taken", err, state.ErrKept)

	list := b.list()
	id := list[0].Task.ID
	changed := list[0].Task
	changed.Description = "changed"
	for what, ask := range map[string]func(state.TaskWriter) (state.Entry, error){
		"replace": func(c state.TaskWriter) (state.Entry, error) {
			return c.Update(b.ctx, changed, hour(5), hour(0), nil)
		},
		"pause":   func(c state.TaskWriter) (state.Entry, error) { return c.Pause(b.ctx, id, hour(8), hour(0)) },
		"remove":  func(c state.TaskWriter) (state.Entry, error) { return c.Remove(b.ctx, id, hour(0)) },
		"restore": func(c state.TaskWriter) (state.Entry, error) { return c.Restore(b.ctx, id, hour(5), hour(0)) },
	} {
		before := b.find(id)
		e, err := ask(b.a.Dry())
		if after := b.find(id); after.Phase != before.Phase || after.Task.Revision != before.Task.Revision || len(b.log(id)) != 1 {
			t.Errorf("asking to %s has changed %+v to %+v", what, before, after)
		}
		switch what {
		case "restore":
			b.is(what, err, state.ErrEnded)
		case "replace":
			if err != nil || e.Task.Description != "changed" || !e.Due.Equal(hour(5)) {
				t.Errorf("replace: %+v %v", e, err)
			}
		default:
			if err != nil || e.Task.ID != id || e.Phase == state.Pending {
				t.Errorf("%s: %+v %v", what, e, err)
			}
		}
	}
	if e, err := b.a.Pause(b.ctx, id, hour(8), hour(0)); err != nil || !e.Held {
		t.Errorf("after it was asked: %+v %v", e, err)
	}
}
