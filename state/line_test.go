package state

import (
	"reflect"
	"testing"
	"time"
)

func TestLineOf(t *testing.T) {
	warsaw := noon.In(time.FixedZone("CET", 3600))
	wrong := noon.Add(time.Hour)
	l := Line{Type: "x", TaskID: "other", Number: 9, Count: 3, Due: &wrong, Outcome: Missed}.Of("k7m2", 4, noon)
	if l.Type != LineOccurrence || l.TaskID != "k7m2" || l.Number != 4 || l.Count != 3 || !l.Due.Equal(noon) || l.Outcome != Missed {
		t.Errorf("line %+v", l)
	}
	if l := (Line{Due: &warsaw}).Of("k7m2", 4, noon); l.Count != 1 || *l.Due != warsaw {
		t.Errorf("line %+v, want it due at %v", l, warsaw)
	}
}

func TestTallyCounts(t *testing.T) {
	at := func(h int) *time.Time { return new(noon.Add(time.Duration(h) * time.Hour)) }
	var got Tally
	for _, l := range []Line{
		{Number: 1, Count: 1, Due: at(0), Outcome: OK, At: *at(1), Ended: at(0)},
		{Number: 5, Count: 1, Due: at(4), Outcome: Failed, At: *at(5)},
		// ends later, was due earlier
		{Number: 2, Count: 3, Due: at(1), DueLast: at(3), Outcome: Missed, At: *at(6)},
	} {
		got.Count(l)
	}
	want := Tally{Number: 5, Fired: 2, Last: "missed", LastDue: *at(4), LastEnd: *at(6), Failing: true, First: noon}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("tally %+v, want %+v", got, want)
	}
	got.Count(Line{Number: 6, Count: 4, Due: at(5), DueLast: at(8), Outcome: Skipped, At: *at(9), Ended: at(7)})
	want = Tally{Number: 9, Fired: 2, Last: "skipped", LastDue: *at(8), LastEnd: *at(7), Failing: true, First: noon,
		Unrun: []Stretch{{*at(5), *at(8)}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("tally %+v, want %+v", got, want)
	}
}

// TestTallyTells: a row of failures goes on until the next success, and the output that counts is
// that of the last success that has any.
func TestTallyTells(t *testing.T) {
	var got Tally
	for _, c := range []struct {
		line    Line
		failing bool
		output  string
	}{
		{Line{Type: LineOccurrence, Outcome: OK, StdoutSum: "a"}, false, "a"},
		{Line{Type: LineOccurrence, Outcome: Failed, StdoutSum: "b"}, true, "a"},
		{Line{Type: LineOccurrence, Outcome: Skipped}, true, "a"},
		{Line{Type: LineManual, Outcome: OK, StdoutSum: "c"}, true, "a"},
		{Line{Type: LineOccurrence, Outcome: OK}, false, "a"},
		{Line{Type: LineOccurrence, Outcome: TimedOut}, true, "a"},
		{Line{Type: LineOccurrence, Outcome: OK, StdoutSum: "d"}, false, "d"},
		{Line{Type: LineOccurrence, Outcome: Interrupted}, true, "d"},
		{Line{Type: LineOccurrence, Outcome: Missed}, true, "d"},
	} {
		if got.Count(c.line); got.Failing != c.failing || got.Output != c.output {
			t.Errorf("after %+v: failing %v, output %q", c.line, got.Failing, got.Output)
		}
	}
}

func TestUTC(t *testing.T) {
	now := time.Now()
	if got := UTC(now); got != now.Round(0).UTC() || !got.Equal(now) {
		t.Errorf("%v is kept as %#v", now, got)
	}
	if got := UTC(time.Time{}.In(time.FixedZone("CET", 3600))); got != (time.Time{}) {
		t.Errorf("the zero instant is kept as %#v", got)
	}
}
