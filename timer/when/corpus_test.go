package when

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// corpusCase is a line of testdata/cron.jsonl; its README is that of the corpus it was drawn from.
type corpusCase struct {
	ID, Kind, Expr, TZ, From string
	DTStart, Anchor          string
	N                        int
	Want                     *[]string
	AlsoOK                   []*[]string `json:"also_ok"`
}

func corpus(t testing.TB) (cases []corpusCase) {
	t.Helper()
	file, err := os.Open("testdata/cron.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c corpusCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if len(cases) < 100 {
		t.Fatalf("only %d cases", len(cases))
	}
	return cases
}

// parse reads a case as a person would give it.
func (c corpusCase) parse(t testing.TB, zone *time.Location) (*Schedule, error) {
	o := Options{Now: clocktest.Instant(t, c.From), Zone: zone}
	switch c.Kind {
	case "cron":
		o.Form = CronForm
	case "rrule":
		o.Form, o.Start = RRuleForm, clocktest.Instant(t, c.DTStart)
	case "interval":
		o.Form, o.Start = EveryForm, clocktest.Instant(t, c.Anchor)
	}
	return Parse(c.Expr, o)
}

// answers are the next n instants of a schedule as text; nil when it was refused.
func answers(t testing.TB, s *Schedule, err error, from time.Time, n int) *[]string {
	if err != nil {
		return nil
	}
	got := []string{}
	for range n {
		next, ok := s.Next(from)
		if !ok {
			break
		}
		if !next.After(from) {
			t.Fatalf("next(%s) = %s", from, next)
		}
		got, from = append(got, next.UTC().Format(time.RFC3339Nano)), next
	}
	return &got
}

func same(t testing.TB, got, want *[]string) bool {
	if got == nil || want == nil {
		return got == want
	}
	if len(*got) != len(*want) {
		return false
	}
	for i := range *got {
		if !clocktest.Instant(t, (*got)[i]).Equal(clocktest.Instant(t, (*want)[i])) {
			return false
		}
	}
	return true
}

func TestCorpus(t *testing.T) {
	for _, c := range corpus(t) {
		t.Run(c.ID, func(t *testing.T) {
			zone := clocktest.Zone(t, c.TZ)
			s, err := c.parse(t, zone)
			got := answers(t, s, err, clocktest.Instant(t, c.From), c.N)
			if !c.right(t, got) {
				t.Fatalf("%s %q in %s from %s:\n got %s %v\nwant %s", c.Kind, c.Expr, c.TZ, c.From, show(got), err, show(c.Want))
			}
			if err != nil {
				if _, ok := err.(*fault.Error); !ok {
					t.Errorf("refused with a %T", err)
				}
				return
			}
			again := c
			again.Expr = s.Canonical
			s2, err := again.parse(t, zone)
			if err != nil || s2.Canonical != s.Canonical {
				t.Fatalf("canonical %q: %v, %v", s.Canonical, s2, err)
			}
			if got2 := answers(t, s2, err, clocktest.Instant(t, c.From), c.N); !same(t, got, got2) {
				t.Errorf("canonical %q answers %s, not %s", s.Canonical, show(got2), show(got))
			}
		})
	}
}

// right says whether an answer is the wanted one or another that the policy allows.
func (c corpusCase) right(t testing.TB, got *[]string) bool {
	right := same(t, got, c.Want)
	for _, also := range c.AlsoOK {
		right = right || same(t, got, also)
	}
	return right
}

func show(list *[]string) string {
	if list == nil {
		return "refused"
	}
	text, _ := json.Marshal(*list)
	return string(text)
}
