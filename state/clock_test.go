package state

import (
	"reflect"
	"testing"
	"time"
)

// TestSetbackLook has what becomes of a clock that is looked at again and again: what it shows, for
// how long its boot lasts, and what is then known of it.
func TestSetbackLook(t *testing.T) {
	hours := func(h float64) time.Time { return noon.Add(time.Duration(h * float64(time.Hour))) }
	type look struct {
		wall     float64 // hours after noon; the latest that it has shown is noon
		boot     string
		at       time.Duration
		synced   bool
		stayed   time.Duration
		believed bool
	}
	const m = time.Minute
	minutes := func(boot string, from, to int, wall float64, before time.Duration) (list []look) {
		for i := from; i <= to; i++ {
			list = append(list, look{wall + float64(i)/60, boot, time.Duration(i) * m, false, before + time.Duration(i-from)*m, false})
		}
		return list
	}
	join := func(lists ...[]look) (all []look) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	for name, looks := range map[string][]look{
		"it is right":                           {{0, "a", m, false, 0, false}, {1, "a", 61 * m, false, 0, false}},
		"a little back is nothing":              {{-2.9, "a", m, false, 0, false}, {-2.9, "a", 99 * m, false, 0, false}},
		"three hours are not yet":               {{-3, "a", m, false, 0, false}},
		"an hour within a boot":                 join(minutes("a", 5, 64, -5, 0), []look{{-4, "a", 65 * m, false, 60 * m, true}}),
		"it comes right before":                 join(minutes("a", 5, 60, -5, 0), []look{{1, "a", 61 * m, false, 0, false}, {-5, "a", 62 * m, false, 0, false}}),
		"over boots":                            join(minutes("a", 5, 34, -5, 0), minutes("b", 1, 31, -5, 29*m), []look{{-4, "b", 32 * m, false, 60 * m, true}}),
		"a boot of the same name anew":          join(minutes("a", 50, 60, -5, 0), []look{{-5, "a", 3 * m, false, 10 * m, false}, {-5, "a", 4 * m, false, 11 * m, false}}),
		"sleep counts for little":               {{-5, "a", m, false, 0, false}, {4.9 - 9, "a", 600 * m, false, 10 * m, false}},
		"without a runner it counts for little": {{-5, "a", m, false, 0, false}, {-3.5, "a", 91 * m, false, 10 * m, false}, {-3.4, "a", 92 * m, false, 11 * m, false}},
		"kept right":                            {{-500, "a", m, true, 0, false}, {-500, "a", 90 * time.Second, true, 30 * time.Second, false}, {-500, "a", 2 * m, true, m, true}},
		"kept right after a while":              {{-500, "a", m, false, 0, false}, {-500, "a", 2 * m, false, m, false}, {-500, "a", 2*m + time.Second, true, m + time.Second, true}},
		"kept right, and then not":              {{-500, "a", m, false, 0, false}, {-500, "a", 90 * time.Second, true, 30 * time.Second, false}, {-500, "a", 3 * m, false, 2 * m, false}},
		"further back meanwhile":                join(minutes("a", 1, 30, -5, 0), minutes("a", 31, 60, -500, 30*m), []look{{-500, "a", 61 * m, false, 60 * m, true}}),
		"a little forward meanwhile":            join(minutes("a", 1, 30, -50, 0), minutes("a", 31, 60, -5, 30*m), []look{{-4, "a", 61 * m, false, 60 * m, true}}),
		"it stays so while there is something to be done about it": join(minutes("a", 5, 64, -5, 0),
			[]look{{-4, "a", 65 * m, false, 60 * m, true}, {-3.9, "a", 66 * m, false, 61 * m, true}}),
	} {
		var b ClockShift
		for i, l := range looks {
			var believed bool
			b, believed = b.Look(noon, Clocks{Now: hours(l.wall), Boot: l.boot, At: l.at, Synced: l.synced})
			if b.Stayed != l.stayed || believed != l.believed || !b.IsZero() && !b.Peak.Equal(noon) {
				t.Errorf("%s: after look %d %+v, believed %v, want %v %v", name, i, b, believed, l.stayed, l.believed)
				break
			}
		}
	}
}

// TestSetbackRemembers: what a runner before this one knew counts, also when the ledger does not
// tell it any more.
func TestSetbackRemembers(t *testing.T) {
	known := ClockShift{Peak: noon.AddDate(1, 0, 0), Stayed: 59 * time.Minute, Boot: "a", At: time.Hour}
	b, believed := known.Look(noon, Clocks{Now: noon, Boot: "a", At: time.Hour + time.Minute})
	if !believed || !b.Peak.Equal(known.Peak) {
		t.Errorf("%+v, believed %v", b, believed)
	}
	if since := b.Since(noon); !since.Equal(noon.Add(-time.Hour)) {
		t.Errorf("since %v", since)
	}
	b.Stayed = 3 * time.Hour
	if since := b.Since(noon); !since.Equal(noon.Add(-time.Hour)) {
		t.Errorf("since %v after three hours", since)
	}
}

// TestTaken has what a task's ledger says, and which instants can be claimed after it: those of the
// hours after noon. The clock may be put back as often as it likes: what was claimed once is never
// claimed again.
func TestTaken(t *testing.T) {
	at := func(h int) *time.Time { return new(noon.Add(time.Duration(h) * time.Hour)) }
	ran := func(number, h int) Line {
		return Line{Type: LineOccurrence, Number: number, Count: 1, Due: at(h), Outcome: OK, At: *at(h), Started: at(h), Ended: at(h)}
	}
	ended := func(o Outcome, number, first, last int) Line {
		l := Line{Type: LineOccurrence, Number: number, Count: last - first + 1, Due: at(first), Outcome: o, At: *at(last)}
		if last > first {
			l.DueLast = at(last)
		}
		return l
	}
	back := func(h int) Line { return Line{Type: LineTask, Event: EventClock, Due: at(h), At: *at(h)} }
	upTo := func(h int) (list []int) {
		for i := -5; i <= h; i++ {
			list = append(list, i)
		}
		return list
	}
	and := func(list []int, more ...int) []int { return append(list, more...) }
	for _, c := range []struct {
		name  string
		lines []Line
		taken []int // of the hours from -5 to 12
	}{
		{"nothing has ended", nil, nil},
		{"what has ended is", []Line{ran(1, 1), ran(2, 2)}, upTo(2)},
		{"what was missed is, too", []Line{ran(1, 1), ended(Missed, 2, 2, 6), ran(7, 7)}, upTo(7)},
		{"after the clock was put back what has run is still", []Line{ran(1, 1), ran(2, 2), ran(3, 3), back(2)}, upTo(3)},
		{"and what was missed is not", []Line{ran(1, 1), ended(Missed, 2, 2, 6), ran(7, 7), back(3)}, and(upTo(2), 7)},
		{"nor what came before the first", []Line{ran(1, 4), ran(2, 5), back(-2)}, and(upTo(-3), 4, 5)},
		{"of a task whose first is not known all may have run", []Line{ran(8, 4), ran(9, 5), back(-2)}, upTo(5)},
		{"what runs then is", []Line{ran(1, 1), ended(Missed, 2, 2, 6), ran(7, 7), back(3), ran(8, 3), ran(9, 4)}, and(upTo(4), 7)},
		{"and what is left out", []Line{ran(1, 1), ran(2, 2), ran(3, 3), back(2), ended(Missed, 4, 2, 3)}, upTo(3)},
		{"what runs then is when the clock is put back once more",
			[]Line{ran(1, 1), ended(Missed, 2, 2, 6), ran(7, 7), back(3), ran(8, 3), ran(9, 4), back(2)}, and(upTo(4), 7)},
		{"and what has come again and has not run is not",
			[]Line{ran(1, 1), ended(Missed, 2, 2, 6), ran(7, 7), back(2), ended(Missed, 8, 2, 4), back(3)}, and(upTo(2), 7)},
		{"what has run is not forgotten because it was left out", []Line{ran(1, 1), ran(2, 2), ran(3, 3), back(2), ended(Missed, 4, 2, 3), back(1)}, upTo(3)},
		{"once the clock has passed all of it, all is", []Line{ran(1, 1), ended(Missed, 2, 2, 6), ran(7, 7), back(3), ended(Missed, 8, 3, 7), ran(13, 8)}, upTo(8)},
		{"a row that was skipped while a run went on is none of it", []Line{ran(1, 1), ended(Skipped, 2, 2, 6), ran(7, 7), back(3)}, and(upTo(2), 7)},
		{"what a gate has kept back was claimed", []Line{ran(1, 1), ended(Skipped, 2, 2, 2), ran(3, 3), back(2)}, upTo(3)},
		{"and what was cancelled before it began", []Line{ran(1, 1), ended(Cancelled, 2, 2, 2), ran(3, 3), back(2)}, upTo(3)},
		{"a run by hand takes nothing", []Line{ran(1, 1), ended(Missed, 2, 2, 6), ran(7, 7), back(3),
			{Type: LineManual, Number: 8, Due: at(5), Outcome: OK}}, and(upTo(2), 7)},
		{"of two that ended in another order each is", []Line{ran(1, 1), ended(Missed, 2, 2, 6), ran(7, 7), back(3), ran(9, 4), ran(8, 3)}, and(upTo(4), 7)},
	} {
		var tally Tally
		for _, l := range c.lines {
			tally.Count(l)
		}
		want := map[int]bool{}
		for _, h := range c.taken {
			want[h] = true
		}
		for h := -5; h <= 12; h++ {
			if got := tally.Taken(*at(h)); got != want[h] {
				t.Errorf("%s: the hour %d is taken: %v; %+v", c.name, h, got, tally)
			}
		}
		for i := range c.lines { // what has ended is never lowered
			var before, after Tally
			for _, l := range c.lines[:i] {
				before.Count(l)
			}
			for _, l := range c.lines[:i+1] {
				after.Count(l)
			}
			if after.LastDue.Before(before.LastDue) {
				t.Errorf("%s: line %d lowers what has ended from %v to %v", c.name, i, before.LastDue, after.LastDue)
			}
		}
	}
}

// TestUnrunIsBounded: of many stretches the longest are remembered, and the newest; copies of a
// tally do not see what becomes of another.
func TestUnrunIsBounded(t *testing.T) {
	var tally Tally
	due, number := noon, 1
	add := func(span time.Duration) Stretch {
		s := Stretch{due.UTC(), due.Add(span).UTC()}
		tally.Count(Line{Type: LineOccurrence, Number: number, Count: 2, Due: &s.From, DueLast: &s.To, Outcome: Missed})
		due, number = s.To.Add(time.Hour), number+2
		return s
	}
	long := add(400 * 24 * time.Hour)
	for i := range 50 {
		add(time.Duration(i%5+1) * time.Minute)
	}
	copied, was := tally, append([]Stretch(nil), tally.Unrun...)
	last := add(time.Second)
	tally.Count(Line{Type: LineTask, Event: EventClock, Due: &long.From, At: long.From})
	inside := long.From.Add(time.Hour)
	tally.Count(Line{Type: LineOccurrence, Number: number, Count: 1, Due: &inside, Outcome: OK})
	if !reflect.DeepEqual(copied.Unrun, was) {
		t.Errorf("the copy has %v, had %v", copied.Unrun, was)
	}
	if len(tally.Unrun) != maxUnrun {
		t.Errorf("%d stretches", len(tally.Unrun))
	}
	if s, ok := tally.Unclaimed(long.To); !ok || !s.From.Equal(inside.Add(1)) {
		t.Errorf("of the longest there is %v %v", s, ok)
	}
	if _, ok := tally.Unclaimed(last.From); !ok {
		t.Error("the newest is forgotten")
	}
}

func TestStretchText(t *testing.T) {
	s := Stretch{noon.UTC(), noon.Add(time.Hour + 1).UTC()}
	text, err := s.MarshalText()
	var got Stretch
	if err != nil || got.UnmarshalText(text) != nil || got != s {
		t.Errorf("%s is read as %v, not %v", text, got, s)
	}
	for _, bad := range []string{"", "/", "2026-11-23T08:00:00Z", "2026-11-23T08:00:00Z/", "x/2026-11-23T08:00:00Z", "2026-11-23T08:00:00Z/2026-11-23T08:00:00Z/"} {
		if err := got.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
