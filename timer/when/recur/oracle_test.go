//go:build oracle

package recur

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// The oracles are other people's programs. .ci/oracle-time runs these tests; docs/time.md explains what they disagree on.

// question is what an oracle is asked: the next n instants of a text after from.
type question struct {
	Text, Zone, From, Start string
	N                       int
}

// python answers questions with a script that defines answer(q), one list of Unix seconds for each.
func python(t *testing.T, module, script string, questions []question) [][]int64 {
	t.Helper()
	interpreter := "/usr/bin/python3"
	if err := exec.Command(interpreter, "-c", "import "+module).Run(); err != nil {
		t.Skipf("no %s: %v", module, err)
	}
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(interpreter, "-c", script+`
import json, sys
print(json.dumps([answer(q) for q in json.load(sys.stdin)]))`)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", module, err)
	}
	var answers [][]int64
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// compare asks our side the same and returns how many answers differ, telling the first few.
func compare(t *testing.T, name string, questions []question, theirs [][]int64, ours func(q question) (Rule, error)) (differ int) {
	t.Helper()
	for i, q := range questions {
		if theirs[i] == nil {
			continue
		}
		r, err := ours(q)
		got := []int64{}
		for at := clocktest.Instant(t, q.From); err == nil && len(got) < q.N; {
			next, ok := r.Next(at)
			if !ok {
				break
			}
			got, at = append(got, next.Unix()), next
		}
		if fmt.Sprint(got) != fmt.Sprint(theirs[i]) {
			if differ++; differ <= 8 {
				t.Logf("%s differs on %q in %s from %s\n ours   %s\n theirs %s", name, q.Text, q.Zone, q.From, instantsIn(got, q.Zone), instantsIn(theirs[i], q.Zone))
			}
		}
	}
	t.Logf("%s: %d questions, %d differ", name, len(questions), differ)
	return differ
}

func instantsIn(list []int64, zone string) string {
	loc, _ := civil.LoadZone(zone)
	var words []string
	for _, u := range list {
		words = append(words, time.Unix(u, 0).In(loc).Format("2006-01-02T15:04:05Z07:00"))
	}
	return strings.Join(words, " ")
}

func ourCron(t *testing.T) func(q question) (Rule, error) {
	return func(q question) (Rule, error) {
		r, err := ReadCron(q.Text, clocktest.Zone(t, q.Zone))
		return r, err
	}
}

// cronQuestions are random lines; in the nights of a clock change, or on days without one.
func cronQuestions(nights bool, n int) (list []question) {
	rng := rand.New(rand.NewPCG(7, 8))
	for len(list) < n {
		text := func(low, high, stars int) string {
			if rng.IntN(10) < stars {
				return "*"
			}
			f, _ := randomField(rng, low, high)
			return f
		}
		day, weekday := text(1, 28, 7), "*"
		if strings.HasPrefix(day, "*") {
			day, weekday = "*", text(0, 6, 4)
		}
		q := question{Zone: "Asia/Kolkata", From: "2026-11-21T10:00:00Z", N: 5}
		month := text(1, 12, 7)
		hour := text(0, 23, 3)
		if nights {
			month, day = "*", "*"
			q.Zone, q.From = "Europe/Warsaw", []string{"2026-03-28T20:00:00Z", "2026-10-24T20:00:00Z"}[rng.IntN(2)]
			hour = []string{"2", "1-3", "*", "*/2", "2,3"}[rng.IntN(5)]
		}
		q.Text = strings.Join([]string{text(0, 59, 3), hour, day, month, weekday}, " ")
		list = append(list, q)
	}
	return list
}

const croniterScript = `
from croniter import croniter
from datetime import datetime
from dateutil import tz
def answer(q):
    zone = tz.gettz(q["Zone"])
    at = datetime.fromisoformat(q["From"].replace("Z", "+00:00")).astimezone(zone)
    it = croniter(q["Text"], at)
    return [int(it.get_next(float)) for _ in range(q["N"])]
`

func TestOracleCroniter(t *testing.T) {
	questions := cronQuestions(false, 1500)
	if n := compare(t, "croniter", questions, python(t, "croniter", croniterScript, questions), ourCron(t)); n > 0 {
		t.Errorf("%d differ on ordinary days", n)
	}
	questions = cronQuestions(true, 300)
	compare(t, "croniter at clock changes", questions, python(t, "croniter", croniterScript, questions), ourCron(t))
}

const dateutilScript = `
from dateutil.rrule import rrulestr
from datetime import datetime, timezone
def stamp(text): return datetime.fromisoformat(text.replace("Z", ""))
def answer(q):
    out = []
    for at in rrulestr(q["Text"], dtstart=stamp(q["Start"])).xafter(stamp(q["From"]), count=q["N"]):
        out.append(int(at.replace(tzinfo=timezone.utc).timestamp()))
    return out
`

func TestOracleDateutil(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	var questions []question
	for len(questions) < 600 {
		start := time.Date(2020+rng.IntN(6), time.Month(1+rng.IntN(12)), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), 0, 0, time.UTC)
		q := question{Text: randomRule(rng), Zone: "UTC", Start: start.Format(time.RFC3339), From: start.AddDate(0, rng.IntN(40), 0).Format(time.RFC3339), N: 5}
		if _, _, _, err := parseRRule(q.Text, start, time.UTC); err != nil {
			continue // never comes: the oracle would look until the year 9999
		}
		questions = append(questions, q)
	}
	ours := func(q question) (Rule, error) {
		r, _, _, err := parseRRule(q.Text, clocktest.Instant(t, q.Start), time.UTC)
		return r, err
	}
	if n := compare(t, "dateutil", questions, python(t, "dateutil", dateutilScript, questions), ours); n > 0 {
		t.Errorf("%d differ", n)
	}
}

var elapse = regexp.MustCompile(`\(in UTC\): (.*)|(?:Next elapse|Iter\. #\d+): (.* UTC)`)

// askCalendar asks systemd-analyze about one calendar event.
func askCalendar(t *testing.T, spec string, q question) []int64 {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("no systemd-analyze")
	}
	from := clocktest.Instant(t, q.From).UTC().Format("2006-01-02 15:04:05 UTC")
	cmd := exec.Command("systemd-analyze", "calendar", fmt.Sprintf("--iterations=%d", q.N), "--base-time="+from, spec)
	cmd.Env = []string{"TZ=" + q.Zone, "PATH=/usr/bin:/bin", "LC_ALL=C"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	list := []int64{}
	for _, m := range elapse.FindAllStringSubmatch(string(out), -1) {
		at, err := time.Parse("Mon 2006-01-02 15:04:05 MST", m[1]+m[2])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, at.Unix())
	}
	return list
}

// calendar asks systemd-analyze about cron lines; it takes either kind of day but both at once only together.
func calendar(t *testing.T, questions []question) (answers [][]int64) {
	t.Helper()
	names := strings.Fields("Sun Mon Tue Wed Thu Fri Sat")
	for _, q := range questions {
		fields := strings.Fields(q.Text)
		values := func(f *cronField, text string) string {
			set, err := f.read(text)
			if err != nil {
				t.Fatal(err)
			}
			if set.all {
				return "*"
			}
			var words []string
			for v := f.min; v <= f.max; v++ {
				if set.values[v] {
					words = append(words, fmt.Sprint(v))
				}
			}
			return strings.Join(words, ",")
		}
		days := ""
		if fields[4] != "*" {
			for v := range strings.SplitSeq(values(cronWeekday, fields[4]), ",") {
				if v == "*" {
					continue
				}
				days += "," + names[v[0]-'0']
			}
		}
		spec := strings.TrimSpace(fmt.Sprintf("%s *-%s-%s %s:%s:00", strings.TrimPrefix(days, ","), values(cronMonth, fields[3]),
			values(cronDay, fields[2]), values(cronHour, fields[1]), values(cronMinute, fields[0])))
		answers = append(answers, askCalendar(t, spec, q))
	}
	return answers
}

func TestOracleSystemd(t *testing.T) {
	questions := cronQuestions(false, 400)
	if n := compare(t, "systemd", questions, calendar(t, questions), ourCron(t)); n > 0 {
		t.Errorf("%d differ on ordinary days", n)
	}
	questions = cronQuestions(true, 150)
	compare(t, "systemd at clock changes", questions, calendar(t, questions), ourCron(t))
}

// randomCalendar is a calendar event that comes within a few years.
func randomCalendar(rng *rand.Rand) string {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	text := pick("", "Mon", "Mon..Fri", "Sat,Sun", "Tue,Thu..Sat", "fri") + " "
	text += pick("*-*-*", "*-*-1", "*-*-1..7", "*-*-1,15", "*-*-2/3", "*-*~01", "*-*~07/1", "*-*~1..3", "*-1,7-*", "*-3..5-10", "*-2/3-*", "2027-*-*", "2026..2028-*-05") + " "
	return strings.TrimSpace(text + pick("09:00", "09:00:30", "*:0/15", "*:00", "0/6:00", "8,20:30", "4..8/2:30", "*:*:20", "23:59:59", "6..9:5,35:10"))
}

func TestOracleCalendar(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var questions []question
	var answers [][]int64
	for len(questions) < 400 {
		from := time.Date(2026, time.Month(1+rng.IntN(12)), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), 0, 0, time.UTC)
		q := question{Text: randomCalendar(rng), Zone: "UTC", From: from.Format(time.RFC3339), N: 5}
		questions, answers = append(questions, q), append(answers, askCalendar(t, q.Text, q))
	}
	ours := func(q question) (Rule, error) {
		r, err := ReadCalendar(q.Text, clocktest.Instant(t, q.From), time.UTC)
		return r, err
	}
	if n := compare(t, "systemd's calendar events", questions, answers, ours); n > 0 {
		t.Errorf("%d differ", n)
	}
}

// systemdEvents are the examples of systemd.time(7), and forms near them. A step that does not divide its field is left out: systemd 252 then
// passes over the first value after the end of an hour (*:0/7 from 23:59:59 is 00:07).
var systemdEvents = strings.Split(`Sat,Thu,Mon..Wed,Sat..Sun|Mon,Sun 12-*-* 2,1:23|Wed *-1|Wed..Wed,Wed *-1|Wed, 17:48|Wed..Sat,Tue 27-10-15 1:2:3|*-*-7 0:0:0|10-15|
monday *-12-* 17:00|Mon,Fri *-*-3,1,2 *:30:45|12,14,13,12:20,10,30|12..14:10,20,30|mon,fri *-1/2-1,3 *:30:45|03-05 08:05:40|08:05:40|05:40|Sat,Sun 12-05 08:05:40|
Sat,Sun 08:05:40|2003-03-05 05:40|2027-02..04-05|2027-03-05 05:40 UTC|2027-03-05|03-05|hourly|daily|daily UTC|monthly|weekly|weekly Pacific/Auckland|yearly|annually|*:2/3|
Minutely|quarterly|semiannually|biannually|semi-annually|bi-annually|Weekly|2026..2027-12-24|2026/2-12-24|2026/3-12-24|2027/2-*-1 10:00|2027,2029-02-28|2026,2028-*-* 12:00|
2027-01..06-01 10:00|0/4:00|6,18:00|00/12:00|*-*-* 0/6:30|Mon..Fri 22:30|Mon..Fri 22:30 Europe/London|Mon..Fri *-*-* 09:00:00 America/New_York|*-*~1|*-*~03|*-02~03|*-05~07/1|
Mon *-05~07/1|*-*~1..3 12:00|*-2~1|*-2-29|*-02-30|Fri *-*-13 13:13|*-1,4,7,10-1 08:00|*-*-1/7 06:00|*-*-31|*-4,6-30 23:59:59|Sun 02:30|*:0/15|*:0/6|*:5/10:30|*:*:0/20|
0..6/2:15|8..18:00|8..18/2:00,30|9,12..14,17:45|*:00,30|23:*:00|23:59:*|Mon 23:*|*-*-1..7 18:00|Mon *-*-1..7 10:00|Tue *-*-8..14|mon-fri 09:00|Sat..Sun 10:00|Mon..Sun|sunday|
sat,sun|Tuesday,Thursday 7:5|1-1|12-31 23:59:59|*-12-31 23:59|*-*-15,31 00:00|99-01-01|2028-02-29|26-12-24|27..28-1-1|*-*-2/3 1:00|*-11..12-24..26 8:00|*-*-* *:*:*|*:*|
2027-*-*|2026-11-24 10:07:31|2026-11-24 10:07:30|Tue 2026-11-24 *:8|2030-1/3-1|*-3/4-5/10 3/7:9/25|*-*-30..31 5:00|0:0|00:00:01|Mon..Sun 6:00|Mon,Tue,Wed,Thu,Fri,Sat,Sun 7:00`, "|")

func TestOracleCalendarForms(t *testing.T) {
	var questions []question
	var answers [][]int64
	for _, from := range []string{"2026-11-24T10:07:30Z", "2027-02-28T23:59:59Z"} {
		for _, text := range systemdEvents {
			q := question{Text: strings.TrimSpace(text), Zone: "UTC", From: from, N: 5}
			questions, answers = append(questions, q), append(answers, askCalendar(t, q.Text, q))
		}
	}
	ours := func(q question) (Rule, error) {
		r, err := ReadCalendar(q.Text, clocktest.Instant(t, q.From), time.UTC)
		if err != nil && err.(*fault.Error).Code != fault.CodeNever {
			t.Errorf("%q: %v", q.Text, err)
		}
		return r, err
	}
	if n := compare(t, "systemd's calendar events", questions, answers, ours); n > 0 {
		t.Errorf("%d of %d differ", n, len(questions))
	}
}
