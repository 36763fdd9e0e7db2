package recur

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

var fuzzZones = []string{"UTC", "Europe/Warsaw", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia",
	"Antarctica/Troll", "Africa/Casablanca", "Asia/Gaza", "Europe/Dublin"}

// walk checks what every rule promises: later than asked, in order, no instant left out between, quick, and the canonical
// form means the same.
func walk(t *testing.T, text string, from time.Time, read func(text string) (Rule, string, error)) {
	var r Rule
	var canonical string
	var err error
	clocktest.Quick(t, "reading", func() { r, canonical, err = read(text) })
	if err != nil {
		e, ok := err.(*fault.Error)
		if !ok || e.Code == "" || e.Message == "" || e.Hint == "" || strings.Contains(e.Message, "\n") {
			t.Fatalf("%q: %#v", text, err)
		}
		return
	}
	again, canonical2, err := read(canonical)
	if err != nil || canonical2 != canonical {
		t.Fatalf("%q: canonical %q reads as %q, %v", text, canonical, canonical2, err)
	}
	at := from
	for range 6 {
		var next time.Time
		var ok bool
		clocktest.Quick(t, "next", func() { next, ok = r.Next(at) })
		next2, ok2 := again.Next(at)
		if ok != ok2 || ok && !next.Equal(next2) {
			t.Fatalf("%q after %s: %s, %v; canonical %q: %s, %v", text, at, next, ok, canonical, next2, ok2)
		}
		if !ok {
			break
		}
		if !next.After(at) {
			t.Fatalf("%q: next(%s) = %s", text, at, next)
		}
		// Monotone: from any point before it, next is the same.
		for _, between := range []time.Time{next.Add(-1), at.Add(next.Sub(at) / 2)} {
			if between.Before(at) || !between.Before(next) {
				continue
			}
			if n, ok := r.Next(between); !ok || !n.Equal(next) {
				t.Fatalf("%q: next(%s) = %s, but next(%s) = %s, %v", text, at, next, between, n, ok)
			}
		}
		at = next
	}
	if _, _, err := read(canonical + " banana"); err == nil {
		t.Fatalf("%q is read with a word left over", canonical+" banana")
	}
}

func fuzzPoint(seconds int64, zone uint8) (time.Time, *time.Location) {
	loc, err := civil.LoadZone(fuzzZones[int(zone)%len(fuzzZones)])
	if err != nil {
		panic(err)
	}
	const span = 200 * 366 * 86400 // 1970 to 2170
	return time.Unix(civil.FloorMod(seconds, span), 0).UTC(), loc
}

// seed is a case of the corpus of recurrences.
type seed struct {
	Kind, Expr    string
	From, DTStart time.Time
}

// seeds are the cases of a kind.
func seeds(f *testing.F, kind string) (list []seed) {
	file, err := os.Open("../testdata/cron.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	for cases := json.NewDecoder(file); cases.More(); {
		var c seed
		if err := cases.Decode(&c); err != nil {
			f.Fatal(err)
		}
		if c.Kind == kind {
			list = append(list, c)
		}
	}
	if len(list) < 30 {
		f.Fatalf("only %d cases", len(list))
	}
	return list
}

func FuzzCron(f *testing.F) {
	for i, c := range seeds(f, "cron") {
		f.Add(c.Expr, c.From.Unix(), uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64, zone uint8) {
		from, loc := fuzzPoint(seconds, zone)
		LooksLikeCron(text)
		walk(t, text, from, func(text string) (Rule, string, error) {
			r, err := ReadCron(text, loc)
			return r, r.Canonical, err
		})
	})
}

func FuzzRRule(f *testing.F) {
	for i, c := range seeds(f, "rrule") {
		f.Add(c.Expr, c.DTStart.Unix(), int64(i*86400), uint8(i))
	}
	for _, text := range []string{"FREQ=HOURLY;INTERVAL=16;BYHOUR=8,9;BYMINUTE=0,30;BYSETPOS=-1", "FREQ=SECONDLY;INTERVAL=86399;BYHOUR=9",
		"DTSTART;TZID=Europe/Warsaw:20260329T023000 RRULE:FREQ=DAILY", "FREQ=YEARLY;BYWEEKNO=1,-1;WKST=SU;BYDAY=MO,SU"} {
		f.Add(text, int64(1.7e9), int64(1e6), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, begin, after int64, zone uint8) {
		start, loc := fuzzPoint(begin, zone)
		from, _ := fuzzPoint(begin+civil.FloorMod(after, 1e9)-1e6, zone)
		LooksLikeRRule(text)
		walk(t, text, from, func(text string) (Rule, string, error) {
			r, canonical, _, err := parseRRule(text, start, loc)
			return r, canonical, err
		})
	})
}

func FuzzInterval(f *testing.F) {
	f.Add(int64(time.Hour), int64(0), int64(0), int64(3600), int64(5))
	f.Add(int64(1), int64(-6e10), int64(1), int64(2e11), int64(0))
	f.Add(int64(1<<63-1), int64(0), int64(0), int64(1<<40), int64(0))
	f.Fuzz(func(t *testing.T, every, anchorSec, anchorNano, sec, nano int64) {
		const span = 9000 * 365 * 86400
		anchor := time.Unix(anchorSec%span, civil.FloorMod(anchorNano, 1e9)).UTC()
		from := time.Unix(sec%span, civil.FloorMod(nano, 1e9)).UTC()
		r := NewInterval(time.Duration(every), anchor)
		next, ok := r.Next(from)
		if every <= 0 {
			if ok {
				t.Fatalf("every %d comes at %s", every, next)
			}
			return
		}
		if !ok {
			if from.Year() < civil.LastYear-600 && anchor.Year() < civil.LastYear-600 {
				t.Fatalf("every %d from %s ends after %s", every, anchor, from)
			}
			return
		}
		if !next.After(from) || !next.After(anchor) {
			t.Fatalf("every %d from %s: next(%s) = %s", every, anchor, from, next)
		}
		i := r.(Interval)
		if before := next.Add(-time.Duration(every)); before.After(from) && !before.Equal(anchor) {
			t.Fatalf("every %d from %s: next(%s) = %s leaves out %s", every, anchor, from, next, before)
		}
		if hi, lo := i.since(next); hi == 0 && lo%uint64(every) != 0 {
			t.Fatalf("every %d from %s: next(%s) = %s is out of phase", every, anchor, from, next)
		}
		if two, ok := i.After(next, 1); ok {
			if n, ok := r.Next(next); !ok || !n.Equal(two) {
				t.Fatalf("every %d from %s: next(%s) = %s, not %s", every, anchor, next, n, two)
			}
		}
		if n, m := i.UpTo(next), i.UpTo(next.Add(-1)); n != m+1 && n < 1<<62 {
			t.Fatalf("every %d from %s: %d up to %s, %d before", every, anchor, n, next, m)
		}
	})
}
