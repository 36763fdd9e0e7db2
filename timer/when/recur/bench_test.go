package recur

import (
	"fmt"
	"testing"
	"time"

	"github.com/gorhill/cronexpr"
	"github.com/robfig/cron/v3"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// benchLines are common lines; the peers' figures in the corpus README are for the first three.
var benchLines = []struct{ name, line string }{
	{"every-minute", "* * * * *"},
	{"daily", "30 9 * * *"},
	{"weekdays", "0 9 * * 1-5"},
	{"every-5-minutes", "*/5 * * * *"},
	{"monthly", "0 8 1 * *"},
}

// BenchmarkNext walks through years of Europe/Warsaw, beside gorhill/cronexpr alone on the same zoned times.
func BenchmarkNext(b *testing.B) {
	zone := clocktest.Zone(b, "Europe/Warsaw")
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, zone)
	end := from.AddDate(20, 0, 0)
	for _, c := range benchLines {
		b.Run(c.name+"/ours", func(b *testing.B) {
			r, err := ReadCron(c.line, zone)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for at := from; b.Loop(); {
				next, ok := r.Next(at)
				if !ok || !next.After(at) {
					b.Fatalf("next(%s) = %s, %v", at, next, ok)
				}
				if at = next; at.After(end) {
					at = from
				}
			}
		})
		b.Run(c.name+"/gorhill", func(b *testing.B) {
			e := cronexpr.MustParse(c.line)
			b.ReportAllocs()
			for at := from; b.Loop(); {
				next := e.Next(at)
				if !next.After(at) { // around a clock change it can answer an instant that is not later
					next = at.Add(2 * time.Hour)
				}
				if at = next; at.After(end) {
					at = from
				}
			}
		})
		b.Run(c.name+"/robfig", func(b *testing.B) {
			e, err := cron.ParseStandard(c.line)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for at := from; b.Loop(); {
				next := e.Next(at)
				if at = next; at.IsZero() || at.After(end) {
					at = from
				}
			}
		})
	}
}

// worst are accepted rules whose next instant is far, or hard to find. Held to a millisecond each.
var worst = []struct{ name, text, from string }{
	{"leap-day-monday", "0 0 * 2 1#5", "2072-03-01T00:00:00Z"},
	{"leap-day-monday-beyond-the-library", "0 0 * 2 1#5", "2140-03-01T00:00:00Z"},
	{"leap-day-across-2100", "0 0 29 2 *", "2096-03-01T00:00:00Z"},
	{"starred-days-meet", "0 0 */28 2 1#5", "2072-03-01T00:00:00Z"},
	{"full-lists", "*/2 */3 1-30/2,L,LW,15W */2 1#1,2#2,3L *", "2098-12-31T22:00:00Z"},
	{"last-year-of-a-list", "0 0 1 1 * 1970,2099", "1971-01-01T00:00:00Z"},
	{"daily-leap-day", "FREQ=DAILY;INTERVAL=3;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "2026-01-01T00:00:00Z"},
	{"yearly-leap-day", "FREQ=YEARLY;INTERVAL=3;BYMONTHDAY=29;BYMONTH=2;BYDAY=TU", "2100-01-01T00:00:00Z"},
	{"yearly-weeks", "FREQ=YEARLY;BYWEEKNO=53;BYDAY=SU;BYMONTH=1;BYMONTHDAY=3", "2026-01-01T00:00:00Z"},
	{"yearly-full", "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9,10,11,12,13,14,15,16,17,18;BYSETPOS=-1", "2026-01-01T00:00:00Z"},
	{"weekly-large-interval", "FREQ=WEEKLY;INTERVAL=1000;BYMONTH=2;BYDAY=MO", "2026-01-01T00:00:00Z"},
	{"daily-many", "FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12;BYMINUTE=0,5,10,15,20,25,30,35,40,45,50,55", "2026-01-01T00:00:00Z"},
	{"Secondly-rare", "FREQ=SECONDLY;INTERVAL=86399;BYHOUR=9;BYMINUTE=0", "2026-01-01T00:00:00Z"},
	{"Secondly-leap-day", "FREQ=SECONDLY;INTERVAL=11;BYMONTH=2;BYMONTHDAY=29;BYHOUR=23;BYMINUTE=59;BYSECOND=59", "2026-01-01T00:00:00Z"},
	{"Minutely-walked", "FREQ=MINUTELY;INTERVAL=1441;BYHOUR=3;BYMINUTE=7;BYMONTHDAY=31", "2026-01-01T00:00:00Z"},
	{"hourly-walked", "FREQ=HOURLY;INTERVAL=25;BYHOUR=3;BYMONTH=2;BYMONTHDAY=29", "2026-01-01T00:00:00Z"},
}

// readWorst makes a rule and a start that is not itself the answer.
func readWorst(t testing.TB, text, from string) (r Rule, at time.Time) {
	at = clocktest.Instant(t, from)
	zone := clocktest.Zone(t, "Europe/Warsaw")
	var err error
	if LooksLikeCron(text) {
		r, err = ReadCron(text, zone)
	} else {
		r, _, _, err = parseRRule(text, at, zone)
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r, at
}

func BenchmarkNextWorst(b *testing.B) {
	for _, c := range worst {
		b.Run(c.name, func(b *testing.B) {
			r, at := readWorst(b, c.text, c.from)
			b.ReportAllocs()
			for b.Loop() {
				r.Next(at)
			}
		})
	}
}

// The promise of a millisecond, at what a hundred of them take: the machine that tests may be slow and busy.
func TestNextWorst(t *testing.T) {
	clocktest.Alone(t)
	for _, c := range worst {
		r, at := readWorst(t, c.text, c.from)
		best := time.Hour
		for range 5 {
			begin := time.Now()
			r.Next(at)
			best = min(best, time.Since(begin))
		}
		if best > 100*time.Millisecond {
			t.Errorf("%s: Next takes %s", c.name, best)
		}
	}
}

// Texts that take long to read or to refuse.
func TestReadWorst(t *testing.T) {
	list := func(low, high int) (text string) {
		for v := low; v <= high; v++ {
			text += fmt.Sprintf(",%d", v)
		}
		return text[1:]
	}
	start := clocktest.Instant(t, "2026-01-01T00:00:00Z")
	zone := clocktest.Zone(t, "Europe/Warsaw")
	for _, text := range []string{
		"0 0 30 2 *", "0 0 */31 2 1#5", list(0, 59) + " " + list(0, 23) + " " + list(1, 31) + " * " + list(0, 7) + " *",
		"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;INTERVAL=2;BYMONTHDAY=31;BYMONTH=4", "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2",
		"FREQ=YEARLY;BYYEARDAY=366;BYSETPOS=2", "FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6", "FREQ=DAILY;COUNT=10000",
		"FREQ=YEARLY;COUNT=10000", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;COUNT=10000;BYSETPOS=-1", "FREQ=WEEKLY;COUNT=10000;BYDAY=MO",
		"FREQ=MINUTELY;BYHOUR=9;COUNT=1000", "FREQ=SECONDLY;INTERVAL=7;BYHOUR=9;BYMINUTE=3;BYDAY=MO;COUNT=1000",
		"FREQ=SECONDLY;INTERVAL=86399;BYSECOND=" + list(0, 59), "FREQ=SECONDLY;INTERVAL=86399;BYHOUR=9;BYMINUTE=0;BYMONTH=2;BYMONTHDAY=30",
		"FREQ=SECONDLY;INTERVAL=86401;BYHOUR=9;BYMINUTE=0;COUNT=100", "FREQ=MONTHLY;BYDAY=FR;BYSETPOS=5;COUNT=10000",
		"FREQ=YEARLY;BYYEARDAY=" + list(1, 366) + ";COUNT=10000",
	} {
		best := time.Hour
		for range 3 {
			begin := time.Now()
			if LooksLikeCron(text) {
				_, _ = ReadCron(text, zone)
			} else {
				_, _, _, _ = parseRRule(text, start, zone)
			}
			best = min(best, time.Since(begin))
		}
		t.Logf("%8s %.60s", best.Round(time.Microsecond), text)
		if best > 2*time.Second { // a hang; how fast it is, benchmarks say
			t.Errorf("%.60s is read in %s", text, best)
		}
	}
}
