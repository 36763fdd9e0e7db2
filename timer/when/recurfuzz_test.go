package when

import (
	"strings"
	"testing"
	"time"
)

// patience is how long reading a text or finding an instant may take under a fuzzer on a busy machine: fifty times what is
// promised, so that only what hangs is found.
const patience = 500 * time.Millisecond

// quick fails when work took longer than patience. The machine may stall, so a slow answer is asked for again.
func quick(t *testing.T, what string, work func()) {
	t.Helper()
	for try := 0; ; try++ {
		begin := time.Now()
		work()
		if took := time.Since(begin); took < patience {
			return
		} else if try == 2 {
			t.Fatalf("%s takes %s", what, took)
		}
	}
}

var fuzzZones = []string{"UTC", "Europe/Warsaw", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia",
	"Antarctica/Troll", "Africa/Casablanca", "Asia/Gaza", "Europe/Dublin"}

// walk checks what every rule promises: later than asked, in order, no instant left out between, quick, and the canonical
// form means the same.
func walk(t *testing.T, text string, from time.Time, read func(text string) (rule, string, error)) {
	var r rule
	var canonical string
	var err error
	quick(t, "reading", func() { r, canonical, err = read(text) })
	if err != nil {
		e, ok := err.(*Error)
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
		quick(t, "next", func() { next, ok = r.next(at) })
		next2, ok2 := again.next(at)
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
			if n, ok := r.next(between); !ok || !n.Equal(next) {
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
	loc, err := LoadZone(fuzzZones[int(zone)%len(fuzzZones)])
	if err != nil {
		panic(err)
	}
	const span = 200 * 366 * 86400 // 1970 to 2170
	return time.Unix(floorMod(seconds, span), 0).UTC(), loc
}

func FuzzCron(f *testing.F) {
	for i, c := range corpus(f) {
		if c.Kind == "cron" {
			f.Add(c.Expr, instant(f, c.From).Unix(), uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64, zone uint8) {
		from, loc := fuzzPoint(seconds, zone)
		looksLikeCron(text)
		walk(t, text, from, func(text string) (rule, string, error) {
			r, canonical, _, err := parseCron(text, loc)
			return r, canonical, err
		})
	})
}

func FuzzRRule(f *testing.F) {
	for i, c := range corpus(f) {
		if c.Kind == "rrule" {
			f.Add(c.Expr, instant(f, c.DTStart).Unix(), int64(i*86400), uint8(i))
		}
	}
	for _, text := range []string{"FREQ=HOURLY;INTERVAL=16;BYHOUR=8,9;BYMINUTE=0,30;BYSETPOS=-1", "FREQ=SECONDLY;INTERVAL=86399;BYHOUR=9",
		"DTSTART;TZID=Europe/Warsaw:20260329T023000 RRULE:FREQ=DAILY", "FREQ=YEARLY;BYWEEKNO=1,-1;WKST=SU;BYDAY=MO,SU"} {
		f.Add(text, int64(1.7e9), int64(1e6), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, begin, after int64, zone uint8) {
		start, loc := fuzzPoint(begin, zone)
		from, _ := fuzzPoint(begin+floorMod(after, 1e9)-1e6, zone)
		looksLikeRRule(text)
		walk(t, text, from, func(text string) (rule, string, error) {
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
		anchor := time.Unix(anchorSec%span, floorMod(anchorNano, 1e9)).UTC()
		from := time.Unix(sec%span, floorMod(nano, 1e9)).UTC()
		r := newInterval(time.Duration(every), anchor)
		next, ok := r.next(from)
		if every <= 0 {
			if ok {
				t.Fatalf("every %d comes at %s", every, next)
			}
			return
		}
		if !ok {
			if from.Year() < lastYear-600 && anchor.Year() < lastYear-600 {
				t.Fatalf("every %d from %s ends after %s", every, anchor, from)
			}
			return
		}
		if !next.After(from) || !next.After(anchor) {
			t.Fatalf("every %d from %s: next(%s) = %s", every, anchor, from, next)
		}
		i := r.(interval)
		if before := next.Add(-time.Duration(every)); before.After(from) && !before.Equal(anchor) {
			t.Fatalf("every %d from %s: next(%s) = %s leaves out %s", every, anchor, from, next, before)
		}
		if hi, lo := i.since(next); hi == 0 && lo%uint64(every) != 0 {
			t.Fatalf("every %d from %s: next(%s) = %s is out of phase", every, anchor, from, next)
		}
		if two, ok := i.after(next, 1); ok {
			if n, ok := r.next(next); !ok || !n.Equal(two) {
				t.Fatalf("every %d from %s: next(%s) = %s, not %s", every, anchor, next, n, two)
			}
		}
		if n, m := i.upTo(next), i.upTo(next.Add(-1)); n != m+1 && n < 1<<62 {
			t.Fatalf("every %d from %s: %d up to %s, %d before", every, anchor, n, next, m)
		}
	})
}
