package crontab

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// told is an entry in one line.
func told(e Entry) string {
	text := fmt.Sprintf("%d: %s | ", e.Line, e.Schedule)
	if e.User != "" {
		text += e.User + " | "
	}
	text += e.Command
	if e.Input != "" {
		text += fmt.Sprintf(" <- %q", e.Input)
	}
	if e.OnError {
		text += " (failures)"
	}
	return text
}

// TestTables reads the tables in testdata: each line is an entry, is refused with a reason, or sets or says nothing.
func TestTables(t *testing.T) {
	names, err := filepath.Glob("testdata/*.crontab")
	if err != nil || len(names) < 5 {
		t.Fatalf("%d tables, %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		table := Read(string(text), strings.HasPrefix(filepath.Base(name), "system"))
		var got strings.Builder
		for _, e := range table.Entries {
			fmt.Fprintln(&got, told(e))
		}
		for _, r := range table.Refused {
			fmt.Fprintf(&got, "refused %d: %s\n", r.Line, r.Reason)
		}
		for _, n := range table.Notes {
			fmt.Fprintf(&got, "note %d: %s\n", n.Line, n.Reason)
		}
		golden := strings.TrimSuffix(name, ".crontab") + ".read"
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || got.String() != string(want) {
			t.Errorf("%s is read as\n%s\nand not as\n%s%v", name, got.String(), want, err)
		}
	}
}

func TestVariables(t *testing.T) {
	for _, row := range []struct{ line, name, value string }{
		{"A=b", "A", "b"},
		{"A = b c ", "A", "b c"},
		{"\tA\t=\tb", "A", "b"},
		{`A="b c "`, "A", "b c "},
		{`A='b "c"' `, "A", `b "c"`},
		{`"A B"=c`, "A B", "c"},
		{"MAILTO=", "MAILTO", ""},
		{`MAILTO=""`, "MAILTO", ""},
		{"PATH=/usr/bin:$HOME/bin", "PATH", "/usr/bin:$HOME/bin"},
		{"A=b # no comment", "A", "b # no comment"},
		{"A=b\"c\"", "A", `b"c"`},
	} {
		table := Read(row.line+"\n* * * * * x\n", false)
		if len(table.Entries) != 1 || len(table.Refused) > 0 || len(table.Entries[0].Env) != 1 || table.Entries[0].Env[row.name] != row.value {
			t.Errorf("%q: %+v", row.line, table)
		}
	}
	for _, line := range []string{`A="b" c`, `A="b`, "A", "A b=c", `"A=b`} {
		if table := Read(line+"\n", false); len(table.Refused) != 1 {
			t.Errorf("%q: %+v", line, table)
		}
	}
	table := Read("A=1\n* * * * * x\nA=2\n* * * * * y\n", false)
	if table.Entries[0].Env["A"] != "1" || table.Entries[1].Env["A"] != "2" {
		t.Errorf("a variable counts from its line on: %+v", table)
	}
}

// TestHints: what is refused is answered with what to write.
func TestHints(t *testing.T) {
	for _, row := range []struct{ line, hint string }{
		{"5/10 * * * *", "write 5-59/10"},
		{"* * 5/10 * *", "write 5-31/10"},
		{"* 22-2 * * *", "where it goes on from the beginning is meant, write 22-23,0-2"},
		{"* * * nov-feb *", "where it goes on from the beginning is meant, write nov-12,1-feb"},
		{"0~59 * * * *", "write a value of 0-59; RANDOM_DELAY=10 above the line puts up to ten minutes on it"},
		{"* * 0 * *", "write *, or values of 1-31, also as a list (1,2), a range (1-4) or with a step (*/2)"},
		{"* 99-2 * * *", "write *, or values of 0-23, also as a list (1,2), a range (1-4) or with a step (*/2)"},
		{"* * * * monday", "write *, or values of 0-7, or sun-sat, also as a list (1,2), a range (1-4) or with a step (*/2)"},
	} {
		table := Read(row.line+" x\n", false)
		if len(table.Refused) != 1 || table.Refused[0].Hint != row.hint {
			t.Errorf("%s: %+v", row.line, table)
		}
	}
}

// line makes a random schedule.
func line(r *rand.Rand) string {
	var words []string
	for _, s := range shapes {
		var items []string
		for range 1 + r.IntN(2)*r.IntN(2) {
			a, b := s.low+r.IntN(s.high-s.low+1), s.low+r.IntN(s.high-s.low+1)
			if a > b {
				a, b = b, a
			}
			switch r.IntN(6) {
			case 0, 1:
				items = append(items, "*")
			case 2:
				items = append(items, fmt.Sprintf("*/%d", 1+r.IntN(s.size+5)))
			case 3:
				items = append(items, fmt.Sprintf("%d-%d", a, b))
			case 4:
				items = append(items, fmt.Sprintf("%d-%d/%d", a, b, 1+r.IntN(9)))
			default:
				items = append(items, fmt.Sprint(a))
			}
		}
		words = append(words, strings.Join(items, ","))
	}
	if r.IntN(2) == 0 { // near the hours in which clocks change
		words[1] = []string{"0", "1", "2", "3", "0-3", "1,2", "*", "*/2", "2-3"}[r.IntN(9)]
	}
	return strings.Join(words, " ")
}

// TestMinutesAreThoseOfWhen compares two readings that share nothing, in days with clock changes and in others.
func TestMinutesAreThoseOfWhen(t *testing.T) {
	clocktest.Alone(t)
	r := rand.New(rand.NewPCG(7, 7))
	n := 0
	for _, place := range []struct{ zone, from string }{
		{"UTC", "2027-02-26"}, {"Europe/Warsaw", "2027-03-27"}, {"Europe/Warsaw", "2027-10-30"}, {"America/New_York", "2027-03-13"}, {"America/New_York", "2027-11-06"},
		{"Australia/Lord_Howe", "2027-04-03"}, {"Australia/Lord_Howe", "2027-10-02"}, {"America/Santiago", "2027-04-03"}, {"America/Santiago", "2027-09-04"},
		{"Africa/Casablanca", "2027-02-06"}, {"Asia/Kathmandu", "2028-02-28"}, {"Pacific/Chatham", "2027-04-03"},
	} {
		zone, err := time.LoadLocation(place.zone)
		if err != nil {
			t.Fatal(err)
		}
		from, err := time.ParseInLocation("2006-01-02", place.from, zone)
		if err != nil {
			t.Fatal(err)
		}
		to := from.AddDate(0, 0, 3)
		for range 250 {
			text := line(r)
			table := Read(text+" x\n", false)
			if len(table.Entries) != 1 {
				t.Fatalf("%s: %+v", text, table.Refused)
			}
			e := table.Entries[0]
			sched, err := when.Parse(e.Schedule, when.Options{Now: from.Add(-time.Second), Zone: zone, Form: when.CronForm})
			if err != nil {
				if !strings.Contains(err.Error(), "never comes") {
					t.Errorf("%s: %v", text, err)
				}
				continue
			}
			var here []time.Time
			for at, ok := sched.Next(from.Add(-time.Second)); ok && !at.After(to); at, ok = sched.Next(at) {
				here = append(here, at)
			}
			there := e.Minutes(from, to, zone, zone)
			if n += len(there); !slices.EqualFunc(here, there, time.Time.Equal) {
				i := 0
				for i < min(len(here), len(there)) && here[i].Equal(there[i]) {
					i++
				}
				t.Errorf("%s in %s from %s: %d and %d instants, others from %s and %s on", text, place.zone, place.from, len(here), len(there), here[i:min(i+2, len(here))], there[i:min(i+2, len(there))])
			}
		}
	}
	if n < 10000 {
		t.Errorf("only %d instants were compared", n)
	}
}

// TestOtherZone: cronie asks the clock of CRON_TZ and nothing else.
func TestOtherZone(t *testing.T) {
	warsaw, _ := time.LoadLocation("Europe/Warsaw")
	e := Read("30 2 * * * x\n", false).Entries[0]
	for _, row := range []struct {
		from string
		want []string
	}{
		{"2027-03-27T12:00:00Z", []string{"2027-03-29T02:30:00+02:00"}}, // it is left out on the 28th
		{"2027-10-30T12:00:00Z", []string{"2027-10-31T02:30:00+02:00", "2027-10-31T02:30:00+01:00", "2027-11-01T02:30:00+01:00"}},
	} {
		from, _ := time.Parse(time.RFC3339, row.from)
		var got []string
		for _, at := range e.Minutes(from, from.Add(40*time.Hour), time.UTC, warsaw) {
			got = append(got, at.Format(time.RFC3339))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("from %s: %s", row.from, got)
		}
	}
}

// TestOtherZoneWhileTheClockChanges: cronie on a machine in Warsaw, whose clock goes from 01:59 to 03:00 and back from 02:59 to 02:00, when it is evening
// in New York. In the hour that is shown again it starts what has a star alone.
func TestOtherZoneWhileTheClockChanges(t *testing.T) {
	warsaw, _ := time.LoadLocation("Europe/Warsaw")
	york, _ := time.LoadLocation("America/New_York")
	for _, row := range []struct {
		line, from string
		want       []string
	}{
		{"0 21 * * *", "2027-03-28T00:30:00Z", []string{"21:00"}},
		{"0,30 * * * *", "2027-03-28T00:30:00Z", []string{"20:30", "21:00", "21:30", "22:00", "22:30"}},
		{"0,30 20-22 * * *", "2027-03-28T00:30:00Z", []string{"20:30", "21:00", "21:30", "22:00", "22:30"}},
		{"0,30 20-22 * * *", "2027-10-31T00:30:00Z", []string{"20:30", "22:00", "22:30"}},
		{"0,30 * * * *", "2027-10-31T00:30:00Z", []string{"20:30", "21:00", "21:30", "22:00", "22:30"}},
	} {
		from, _ := time.Parse(time.RFC3339, row.from)
		e := Read(row.line+" x\n", false).Entries[0]
		var got []string
		for _, at := range e.Minutes(from, from.Add(2*time.Hour), warsaw, york) {
			got = append(got, at.Format("15:04"))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s from %s: %s", row.line, row.from, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.crontab")
	for _, name := range names {
		text, _ := os.ReadFile(name)
		f.Add(string(text), strings.Contains(name, "system"))
	}
	now := time.Date(2027, 3, 27, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string, system bool) {
		table := Read(text, system)
		Of(text)
		seen := map[int]bool{}
		for _, e := range table.Entries {
			if seen[e.Line] || e.Schedule == "" || strings.TrimSpace(e.Command) == "" || system && e.User == "" {
				t.Errorf("%+v", e)
			}
			seen[e.Line] = true
			if e.Schedule == Reboot {
				continue
			}
			if _, err := when.Parse(e.Schedule, when.Options{Now: now, Zone: time.UTC, Form: when.CronForm}); err != nil && !strings.Contains(err.Error(), "never comes") && !strings.Contains(err.Error(), "longer than") {
				t.Errorf("%q: %v", e.Schedule, err)
			}
		}
		for _, r := range table.Refused {
			if seen[r.Line] || r.Reason == "" || r.Hint == "" {
				t.Errorf("%+v", r)
			}
			seen[r.Line] = true
		}
	})
}

// The loops of cronie: what is escaped, what ends the command, what ends a line of the input.
func TestParted(t *testing.T) {
	for _, row := range []struct{ text, command, input string }{
		{`cat`, "cat", ""},
		{`cat%`, "cat", ""},
		{`cat%a`, "cat", "a\n"},
		{`cat%a%b`, "cat", "a\nb\n"},
		{`cat%a%`, "cat", "a\n"},
		{`cat%%`, "cat", "\n"},
		{`cat%a%%`, "cat", "a\n\n"},
		{`date +\%F`, "date +%F", ""},
		{`date +\%F%a\%b`, "date +%F", "a%b\n"},
		{`printf a\nb\\c\`, `printf a\nb\\c\`, ""},
		{`echo \\%a`, `echo \\`, "a\n"},
		{`echo \\\%a`, `echo \\%a`, ""},
		{`cat%a\nb\\c\`, "cat", `a\nb\\c\` + "\n"},
		{`cat%a\\%b`, "cat", `a\%b` + "\n"},
	} {
		if command, input := parted(row.text); command != row.command || input != row.input {
			t.Errorf("%s: %q, %q", row.text, command, input)
		}
		text, ok := Joined(row.command, row.input)
		if !ok {
			t.Errorf("%q, %q cannot be said", row.command, row.input)
		} else if command, input := parted(text); command != row.command || input != row.input {
			t.Errorf("%q, %q is written as %s", row.command, row.input, text)
		}
	}
	for _, row := range [][2]string{{`echo \%`, ""}, {"cat", "a\\\nb\n"}, {"cat", "no end"}, {"two\nlines", ""}} {
		if text, ok := Joined(row[0], row[1]); ok {
			t.Errorf("%q is written as %s", row, text)
		}
	}
}
