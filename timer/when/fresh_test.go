package when

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// freshCase is a line of testdata/fresh.txt: a text, and what is read or why it is refused. Now and zone are those of the line with @ above it.
type freshCase struct{ text, want, now, zone string }

func (c freshCase) options(t testing.TB) Options {
	return Options{Now: clocktest.Instant(t, c.now), Zone: clocktest.Zone(t, c.zone)}
}

func freshCases(t testing.TB) (cases []freshCase) {
	t.Helper()
	data, err := os.ReadFile("testdata/fresh.txt")
	if err != nil {
		t.Fatal(err)
	}
	now, zone := friday, "Europe/Warsaw"
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if said, ok := strings.CutPrefix(line, "@ "); ok && !strings.Contains(line, " => ") {
			now, zone, _ = strings.Cut(said, " ")
			continue
		}
		if i := strings.LastIndex(line, " => "); i >= 0 && !strings.HasPrefix(line, "# ") {
			cases = append(cases, freshCase{line[:i], line[i+len(" => "):], now, zone})
		}
	}
	return cases
}

// said is the reading of a text as testdata/fresh.txt writes it, with as many instants of a recurrence as are wanted.
func (c freshCase) said(o Options) string {
	const form = "2006-01-02 15:04:05.999"
	s, err := Parse(c.text, o)
	if err != nil {
		e := err.(*fault.Error)
		got, known := map[string]string{fault.CodeAmbiguous: "ambiguous", fault.CodePast: "past", fault.CodeNever: "never"}[e.Code]
		if !known {
			got = "no"
		}
		if hint, ok := strings.CutPrefix(c.want, "no -> "); ok && got == "no" && strings.HasSuffix(e.Hint, `say "`+hint+`"`) {
			return c.want
		}
		return got
	}
	if s.Kind == Once {
		return s.At.In(o.Zone).Format(form)
	}
	var list []string
	for at := o.Now; len(list) <= strings.Count(c.want, ","); {
		next, ok := s.Next(at)
		if !ok {
			list = append(list, "end")
			break
		}
		list, at = append(list, next.In(o.Zone).Format(form)), next
	}
	return "> " + strings.Join(list, ", ")
}

func TestFresh(t *testing.T) {
	clocktest.Alone(t)
	cases := freshCases(t)
	if len(cases) < 1000 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		o := c.options(t)
		if got := c.said(o); got != c.want {
			_, err := Parse(c.text, o)
			t.Errorf("%q is read as %s, not %s (%v)", c.text, got, c.want, err)
		}
	}
}

// What is said in the place of a text that is not understood keeps all of its words: at most one is spelt otherwise, or is the name of a
// place that becomes its zone. (The R of a repeating interval becomes "every".)
func TestHintsKeepWords(t *testing.T) {
	clocktest.Alone(t)
	words := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" ,.:-/&", r) })
	}
	seen := 0
	for _, c := range freshCases(t) {
		_, err := Parse(c.text, c.options(t))
		e, ok := err.(*fault.Error)
		if !ok || e.Code != fault.CodeNotUnderstood || recur.LooksLikeCron(c.text) || strings.Contains(e.Hint, "for the clocks there") || strings.HasPrefix(c.text, "R/") {
			continue
		}
		for _, instead := range e.Candidates {
			seen++
			have, lost := words(instead.Text), 0
			for _, word := range words(c.text) {
				switch {
				case slices.Contains(have, word):
				case slices.ContainsFunc(have, func(right string) bool { return plain.Distance(word, right, 2) <= 2 }):
					lost++
				default:
					lost += 2
				}
			}
			if lost > 1 {
				t.Errorf("%q: the hint says %q", c.text, instead.Text)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d hints", seen)
	}
}

// No text of the table takes many steps: how long one takes would depend on the machine.
func TestFreshIsQuick(t *testing.T) {
	clocktest.Alone(t)
	const most = 300 // matches and parts put together; maxWork ends the search
	for _, c := range freshCases(t) {
		o := c.options(t)
		p := new(parser)
		if p.open(c.text, &o) != nil {
			continue
		}
		if _, _ = p.schedule(); p.work > most {
			t.Errorf("%q takes %d steps", c.text, p.work)
		}
	}
}

// Each row of the grammar reads a part of some text of the tables: what no text needs is not there.
func TestEveryRowIsRead(t *testing.T) {
	clocktest.Alone(t)
	g, numbers := grammar(), map[string]int{}
	type row struct{ symbol, number int }
	unread := map[row]string{}
	for _, r := range table() {
		for name := range strings.SplitSeq(r.of, "|") {
			at := row{g.names[name], numbers[name]}
			numbers[name]++
			unread[at] = name + ": " + r.pattern
			act := &g.patterns[at.symbol][at.number].act
			original := *act
			*act = func(x *match, m *meaning) bool {
				ok := original(x, m)
				if ok {
					delete(unread, at)
				}
				return ok
			}
			t.Cleanup(func() { *act = original })
		}
	}
	read := func(text string, o Options) {
		for _, o.Form = range []Form{Any, DelayForm, UntilForm, EveryForm} {
			_, _ = Parse(text, o)
		}
		o.Form = Any
		_, _ = Instant(text, o)
		_, _ = ParseDays(text, o)
	}
	for _, c := range freshCases(t) {
		read(c.text, c.options(t))
	}
	for _, c := range phrases(t) {
		read(c.Text, Options{Now: clocktest.Instant(t, c.Ref), Zone: clocktest.Zone(t, c.TZ)})
	}
	for _, c := range typedCases(t) {
		read(c.Text, Options{Now: clocktest.Instant(t, c.Now), Zone: clocktest.Zone(t, c.TZ)})
	}
	for _, name := range unread {
		t.Errorf("no text reads the row %s", name)
	}
}
