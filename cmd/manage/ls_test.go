package manage

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
)

// TestOverdueRow marks what should have started, and nothing else.
func TestOverdueRow(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	task := state.Task{ID: "k7m2", Text: "x", When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC"}}
	every := task
	every.When.Text, every.When.Kind = "every 1h", "interval"
	for _, c := range []struct {
		name  string
		entry state.Entry
		want  string
	}{
		{"about to start", state.Entry{Task: task, Phase: state.Pending, Due: now.Add(-4 * time.Second)}, "  now  "},
		{"late", state.Entry{Task: task, Phase: state.Pending, Due: now.Add(-6 * time.Second)}, "  overdue  "},
		{"late, and recurs", state.Entry{Task: every, Phase: state.Pending, Due: now.Add(-time.Hour)}, "  overdue  "},
		{"paused", state.Entry{Task: task, Phase: state.Paused, Held: true, Due: now.Add(-time.Hour)}, "  until resumed  "},
		{"to come", state.Entry{Task: task, Phase: state.Pending, Due: now.Add(time.Hour)}, "  in 1 hour  "},
	} {
		row := dayRow(cli.Locale{}, false, c.entry, now, 100, 4)
		if !strings.Contains(row, c.want) || view.IsOverdue(c.entry, now) != (c.want == "  overdue  ") {
			t.Errorf("%s: %q", c.name, row)
		}
	}
}

// TestPausedRow says that a task is paused, and until when, and no time at which nothing happens.
func TestPausedRow(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	task := state.Task{ID: "k7m2", Text: "x", When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC"}}
	e := state.Entry{Task: task, Phase: state.Paused, Held: true, Due: now.Add(time.Hour)}
	until := e
	until.Resume = now.AddDate(0, 0, 2)
	runs := e
	runs.Phase = state.Running
	for _, c := range []struct {
		entry state.Entry
		width int
		want  string
	}{
		{e, 100, "  paused    k7m2  until resumed             x"},
		{until, 100, "  paused    k7m2  until 23 Nov 2026 12:00   x"},
		{e, 60, "         k7m2  paused   x"},
		{until, 60, "         k7m2  paused   x"},
	} {
		if row := dayRow(cli.Locale{}, false, c.entry, now, c.width, 4); row != c.want {
			t.Errorf("%q, want %q", row, c.want)
		}
	}
	if head := dayHead(cli.Locale{}, runs, now); head != "Paused" {
		t.Errorf("a run that goes on is below %q", head)
	}
}

// TestNothingListed does not call a list empty whose tasks cannot be read.
func TestNothingListed(t *testing.T) {
	bad := state.Problem{Path: "p", Err: errors.New("cannot be understood")}
	for _, c := range []struct {
		all      bool
		problems []state.Problem
		want     string
	}{
		{false, nil, "No tasks pending."},
		{true, nil, "No tasks."},
		{false, []state.Problem{bad}, "1 task cannot be read, and there are no others."},
		{true, []state.Problem{bad, bad}, "2 tasks cannot be read, and there are no others."},
	} {
		if got := emptyText(c.all, false, c.problems); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

// TestRowsAreTheAnswer holds what is written task by task, in whatever order they come, to the
// answer that is written whole.
func TestRowsAreTheAnswer(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, 700} {
		var all []state.Entry
		for i := range n {
			task := state.Task{ID: state.ID(uint64(i)), Text: `"tasks":[` + strings.Repeat("<&>\u2028\n", r.IntN(200)), When: state.Timing{Text: "1h", Kind: "once", Zone: "Europe/Warsaw"}}
			phase := []state.Phase{state.Pending, state.Paused, state.Ended, state.Removed}[r.IntN(4)]
			all = append(all, state.Entry{Task: task, Phase: phase, Held: phase == state.Paused, Due: now.Add(time.Duration(r.IntN(40)-20) * time.Second)})
		}
		want, got := &bytes.Buffer{}, &bytes.Buffer{}
		s := cli.NewCall(cli.World{Out: got})
		s.InJSON = true
		rows := &taskRows{Call: s, now: now, phases: []state.Phase{state.Ended}}
		overdue := 0
		for _, e := range all {
			rows.addRow(rows.makeRow(&e), 0)
			if view.IsOverdue(e, now) {
				overdue++
			}
		}
		answer := lsJSON{Now: now, Total: n + 3, More: 3, Tasks: []listed{}, Runner: handover.RunnerNone, Warnings: []string{`"tasks":[`}, Problems: []string{}}
		rows.emit(&s.Out, answer)
		slices.SortFunc(all, state.Compare)
		for _, e := range all {
			answer.Tasks = append(answer.Tasks, listed{TaskJSON: view.AsJSON(e, now), Overdue: view.IsOverdue(e, now), Removed: e.Phase == state.Removed})
		}
		whole := cli.NewCall(cli.World{Out: want})
		whole.Emit(answer)
		if err := errors.Join(s.Stdout.Flush(), whole.Stdout.Flush()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) || rows.total != n || rows.overdue != overdue || rows.awaited != slices.ContainsFunc(all, view.NeedsRunner) {
			t.Errorf("%d tasks: %d bytes are not those of the whole answer, %d; %+v", n, got.Len(), want.Len(), rows.total)
		}
	}
}

// TestListedIsWritten holds the row that is written by hand to what encoding/json writes, with
// every field there and not, and every kind of text.
func TestListedIsWritten(t *testing.T) {
	texts := []string{"", "plain", `"quoted" \ back`, "line\n\ttab\x00\x1b", "ünïcode ☕ \u2028\u2029", "<&>", "\xff\xfe", "del\x7f"}
	instants := []time.Time{{}, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), time.Date(9998, 1, 2, 3, 4, 5, 123456789, time.FixedZone("", -5400))}
	r := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		var j listed
		fillField(t, reflect.ValueOf(&j).Elem(), r, texts, instants)
		j.PolicyJSON = view.PolicyJSON{} // no row that is written by hand has it
		if got, want := appendListed(nil, j), encoded(j); !bytes.Equal(got, want) {
			t.Fatalf("\n%s\nnot\n%s", got, want)
		}
	}
}

// fillField puts something, or nothing, into each field.
func fillField(t *testing.T, v reflect.Value, r *rand.Rand, texts []string, instants []time.Time) {
	t.Helper()
	switch kind := v.Kind(); {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(instants[r.IntN(len(instants))]))
	case kind == reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case kind == reflect.Int, kind == reflect.Int64:
		v.SetInt(r.Int64N(2000) - 1000)
	case kind == reflect.Float64:
		v.SetFloat(r.Float64())
	case kind == reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case kind == reflect.Struct:
		for i := range v.NumField() {
			fillField(t, v.Field(i), r, texts, instants)
		}
	case r.IntN(3) == 0: // absent
	case kind == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		for i := range v.Len() {
			fillField(t, v.Index(i), r, texts, instants)
		}
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillField(t, v.Elem(), r, texts, instants)
	default:
		t.Fatalf("a field is a %v, which nothing is put into", v.Type())
	}
}

// TestFirstOccurrences holds the first of many instants, of which few are kept, to those of all in
// order.
func TestFirstOccurrences(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(7, 8))
	for _, maxRows := range []int{1, 7, 600, 5000, 1 << 62} {
		first, all := occurrences{maxRows: maxRows}, []string{}
		for i := range 300 {
			e := state.Entry{Task: state.Task{ID: state.ID(uint64(i)), When: state.Timing{Zone: "UTC"}}, Due: now.Add(time.Duration(r.IntN(100)) * time.Minute)}
			step, on := time.Duration(1+r.IntN(50))*time.Minute, true
			for n := range 40 {
				t := e.Due.Add(time.Duration(n) * step)
				all = append(all, fmt.Sprint(t, e.Due, e.Task.ID))
				on = on && first.add(e, t)
			}
		}
		// Of one instant, those stand first whose task is due first, and then those with the lesser
		// ID: the text has all three.
		slices.Sort(all)
		var got []string
		for _, o := range first.list() {
			got = append(got, fmt.Sprint(o.Due, o.First, o.ID))
		}
		if want := all[:min(maxRows, len(all))]; !slices.Equal(got, want) {
			t.Errorf("first %d: %d, not the %d that they are", maxRows, len(got), len(want))
		}
		if maxRows < 1000 && len(first.rows) > 2*maxRows+1000 {
			t.Errorf("first %d: %d are kept", maxRows, len(first.rows))
		}
	}
}
