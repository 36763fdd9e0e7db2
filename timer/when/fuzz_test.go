package when

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// oddZones are the zones with the odd nights: none, one hour, one hour in the south, half an hour, midnight, a lost day.
var oddZones = []string{
	"UTC", "Europe/Warsaw", "America/New_York", "Australia/Sydney", "Australia/Lord_Howe", "America/Sao_Paulo",
	"Pacific/Apia", "Asia/Kolkata", "Africa/Monrovia",
}

// FuzzParse holds any text to what Parse promises: no panic; the same answer twice; an instant that is not before the
// reference; a word more is a refusal; the canonical form means the same; candidates can be typed back.
func FuzzParse(f *testing.F) {
	clocktest.Alone(f)
	for i, c := range phrases(f) {
		f.Add(c.Text, clocktest.Instant(f, c.Ref).Unix(), uint8(i), uint8(i>>3))
	}
	for i, text := range spokenRecurrences {
		f.Add(text, int64(1795181025), uint8(i), uint8(i>>3))
	}
	for _, text := range []string{
		"0 9 * * 1-5", "@daily", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "DTSTART:20270101T090000Z RRULE:FREQ=DAILY",
		"30-12-27", "1 1/2 hours", "10:00+05:30", "20 Mar 2027 10h11", "2027-W05-1T10", "ten to six pm",
		"1745 Nov 24", "2030 Dec 24", "1530 week from tomorrow", "Dec 25-26", "Tuesday 11/3/2015", "17:00 -04:00", "next friday at noon",
		"2027-03-04T10:00+01:00[Europe/Warsaw]", "½ hour", "P1DT12H", "9:00 CST", "noon + 1 day - 2 hours",
	} {
		f.Add(text, int64(1795181025), uint8(1), uint8(0))
	}
	for i, c := range freshCases(f) {
		f.Add(c.text, int64(1795181025), uint8(i), uint8(i>>3))
	}
	f.Fuzz(checkParse)
}

// FuzzPhrases is FuzzParse over texts of the grammar's own words, in any order: each byte is a word.
func FuzzPhrases(f *testing.F) {
	index := map[string]byte{}
	for i, w := range grammarWords {
		index[w] = byte(i)
	}
	texts := slices.Clone(spokenRecurrences)
	for _, c := range phrases(f) {
		texts = append(texts, c.Text)
	}
	for i, text := range texts {
		var words []byte
		for _, w := range strings.Fields(strings.ToLower(text)) {
			if n, ok := index[w]; ok {
				words = append(words, n)
			} else {
				words = append(words, index["9"])
			}
		}
		f.Add(words, int64(1795181025), uint8(i), uint8(i>>3))
	}
	f.Fuzz(func(t *testing.T, words []byte, ref int64, where, how uint8) {
		var b strings.Builder
		for _, w := range words[:min(len(words), 16)] {
			word := grammarWords[int(w)%len(grammarWords)]
			if b.Len() > 0 && !strings.HasPrefix(word, "~") {
				b.WriteByte(' ')
			}
			b.WriteString(strings.TrimPrefix(word, "~")) // joined to the word before it
		}
		checkParse(t, b.String(), ref, where, how)
	})
}

var grammarWords = strings.Fields(`
	9 7 12 15 0 30 31 29 5 1 2 25 100 0930 1430 2027 2028 2026-12-25 2027-02-29 12/25 03/04/2027 31.12.2026 20270304 @1800000000
	9am 10pm 9:30 22:30 24:00 7:15:30.5 10h30 9.15 t10:00 2027-03-28t02:30 2027-W05-1
	~am ~pm ~s ~m ~h ~d ~st ~th ~: ~. ~, ~- ~+ ~/ ~15 ~30 am pm p.m. a.m. , + - & ( ) @
	a an the in on at of and to from after before between for within until
	half quarter couple hour hours minute minutes second seconds day days week weeks month months year years fortnight ms
	one two three ten twenty thirty hundred first second third fifth twenty-first 1st 3rd 15th 31st last next this coming
	now today tomorrow yesterday tonight morning afternoon evening night noon midnight teatime o'clock past later ago
	sunday monday tuesday wed thursday friday saturday mondays weekdays weekday weekend weekends
	january feb march may june dec december november
	every each other daily hourly weekly monthly yearly fortnightly nightly
	everyday biweekly bimonthly once twice per through thru 2030 2018 -05:00 ~-26 ~-fri
	UTC GMT Z PST CET CST Europe/Warsaw America/New_York warsaw new york eastern local +02:00 -0500 PT15M P1DT2H every 5m week's right time out`)

// checkParse is what FuzzParse promises, for one text.
func checkParse(t *testing.T, text string, ref int64, where, how uint8) {
	forms := []Form{Any, DelayForm, UntilForm, EveryForm, CronForm, RRuleForm}
	const year = 31556952
	now := time.Unix((ref%(200*year)+200*year)%(200*year)-50*year, int64(how)*1001)
	o := Options{Now: now, Zone: clocktest.Zone(t, oddZones[int(where)%len(oddZones)]), BareSeconds: how&1 != 0}
	if how&2 != 0 {
		o.DefaultTime = 9*time.Hour + 30*time.Minute
	}
	if how&0xC0 == 0xC0 {
		o.Form = forms[int(how>>2)%len(forms)]
	}
	var s *Schedule
	var err error
	clocktest.Quick(t, strconv.Quote(text), func() { s, err = Parse(text, o) })
	again, err2 := Parse(text, o)
	if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
		t.Fatalf("%q: %v, then %v", text, err, err2)
	}
	if err != nil {
		if s != nil {
			t.Fatalf("%q: an error and a schedule", text)
		}
		e := checkError(t, text, err)
		checkOffers(t, text, e)
		for _, c := range e.Candidates {
			got, err := Parse(c.Text, o)
			if err != nil {
				t.Fatalf("%q: the candidate %q: %v", text, c.Text, err)
			}
			if got.Kind == Once && !got.At.Equal(c.At) {
				t.Fatalf("%q: the candidate %q is %v, said %v", text, c.Text, got.At, c.At)
			}
		}
		return
	}
	if !s.At.Equal(again.At) || s.Canonical != again.Canonical || !reflect.DeepEqual(s.Notes, again.Notes) {
		t.Fatalf("%q: %v, then %v", text, s, again)
	}
	longer := text + " banana"
	if _, err := Parse(longer, o); err == nil {
		t.Fatalf("%q is accepted", longer)
	}
	plainly := o
	plainly.Form, plainly.BareSeconds = Any, false
	same, err := Parse(s.Canonical, plainly)
	if err != nil {
		t.Fatalf("%q: its canonical form %q: %v", text, s.Canonical, err)
	}
	if s.Kind == Once {
		if s.At.Before(now) {
			t.Fatalf("%q at %v: %v", text, now, s.At)
		}
		if !same.At.Equal(s.At) || same.Kind != Once {
			t.Fatalf("%q: %v, its canonical form %q: %v", text, s.At, s.Canonical, same.At)
		}
		for _, c := range s.Others {
			if got, err := Parse(c.Text, o); err != nil || !got.At.Equal(c.At) || !strings.Contains(strings.Join(textsOf(s.Notes), " "), c.Text) {
				t.Fatalf("%q: the other reading %q: %v, %v, said %v", text, c.Text, got, err, c.At)
			}
		}
		if s.Delay != 0 && !now.Add(s.Delay).Equal(s.At) {
			t.Fatalf("%q: %v after %v is not %v", text, s.Delay, now, s.At)
		}
		return
	}
	at := now
	for range 5 {
		next, ok := s.Next(at)
		other, ok2 := same.Next(at)
		if ok != ok2 || ok && !next.Equal(other) {
			t.Fatalf("%q: %v %v, its canonical form %q: %v %v", text, next, ok, s.Canonical, other, ok2)
		}
		if !ok {
			break
		}
		if !next.After(at) {
			t.Fatalf("%q: %v after %v", text, next, at)
		}
		at = next
	}
}

// FuzzDuration holds Duration to: no panic, never negative, nothing left over, and Go's own form reads back.
func FuzzDuration(f *testing.F) {
	for _, text := range []string{"1d", "90s", "1.5h", "PT15M", "2 hours 30 min", "an hour and a half", "300ms20s 5day", "1w"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Duration(text)
		if err != nil {
			var e *fault.Error
			if !errors.As(err, &e) || e.Message == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if d < 0 {
			t.Fatalf("%q: %v", text, d)
		}
		if _, err := Duration(text + " banana"); err == nil {
			t.Fatalf("%q and a word more is accepted", text)
		}
		if back, err := Duration(d.String()); err != nil || back != d {
			t.Fatalf("%q: %v reads back as %v, %v", text, d, back, err)
		}
	})
}

// The whole corpus, one text after the other; "each" has the time of one text.
func BenchmarkParseCorpus(b *testing.B) {
	cases := phrases(b)
	options := make([]Options, len(cases))
	for i, c := range cases {
		options[i] = Options{Now: clocktest.Instant(b, c.Ref), Zone: clocktest.Zone(b, c.TZ)}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		_, _ = Parse(cases[i].Text, options[i])
		if i++; i == len(cases) {
			i = 0
		}
	}
}

// One text of each kind.
func BenchmarkParse(b *testing.B) {
	o := Options{Now: time.Unix(1795181025, 0), Zone: clocktest.Zone(b, "Europe/Warsaw")}
	for _, text := range []string{
		"90s", "in 30 minutes", "tomorrow at 9am", "next friday at noon", "2027-03-04T05:06:07Z",
		"25 Dec 2027 09:00", "every 5m", "every weekday at 9am", "0 9 * * 1-5", "banana",
	} {
		b.Run(strings.ReplaceAll(text, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Parse(text, o)
			}
		})
	}
}

// TestParseMedian measures each text of both corpora by itself when OURO_BENCH is set: a median is no benchmark of Go's.
func TestParseMedian(t *testing.T) {
	if os.Getenv("OURO_BENCH") == "" {
		t.Skip("set OURO_BENCH=1 to measure")
	}
	var times []time.Duration
	slowest := ""
	measure := func(text, now, zone string) {
		o := Options{Now: clocktest.Instant(t, now), Zone: clocktest.Zone(t, zone)}
		const n = 500
		start := time.Now()
		for range n {
			_, _ = Parse(text, o)
		}
		took := time.Since(start) / n
		if len(times) == 0 || took > slices.Max(times) {
			slowest = text
		}
		times = append(times, took)
	}
	for _, c := range phrases(t) {
		measure(c.Text, c.Ref, c.TZ)
	}
	for _, c := range typedCases(t) {
		measure(c.Text, c.Now, c.TZ)
	}
	slices.Sort(times)
	t.Logf("parse: median %v, p90 %v, worst %v: %q", times[len(times)/2], times[len(times)*9/10], times[len(times)-1], slowest)
}
