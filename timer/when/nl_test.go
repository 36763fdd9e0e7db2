package when

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// phraseCase is a line of testdata/nl.jsonl: want_any, where it is there, lists every right answer, null for a refusal;
// else want is the only one.
type phraseCase struct {
	Ref, TZ, Text string
	Want          *string
	WantAny       []*string `json:"want_any"`
	Class, Source string
}

func phrases(t testing.TB) (cases []phraseCase) {
	t.Helper()
	file, err := os.Open("testdata/nl.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c phraseCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.WantAny == nil {
			c.WantAny = []*string{c.Want}
		}
		cases = append(cases, c)
	}
	if len(cases) < 100 {
		t.Fatalf("only %d cases", len(cases))
	}
	return cases
}

// right reports whether an answer is one of those wanted.
func (c phraseCase) right(t testing.TB, s *Schedule, err error) bool {
	for _, want := range c.WantAny {
		switch {
		case want == nil && err != nil:
			return true
		case want != nil && err == nil && s.At.Equal(clocktest.Instant(t, *want)):
			return true
		}
	}
	return false
}

// Every case of the corpus is answered right. What a bare number means changes none of them.
func TestPhraseCorpus(t *testing.T) {
	for _, bare := range []bool{false, true} {
		right, total := map[string]int{}, map[string]int{}
		for _, c := range phrases(t) {
			o := Options{Now: clocktest.Instant(t, c.Ref), Zone: clocktest.Zone(t, c.TZ), OnceOnly: true, BareSeconds: bare}
			s, err := Parse(c.Text, o)
			total[c.Class]++
			if err != nil {
				checkOffers(t, c.Text, checkError(t, c.Text, err))
			}
			if c.right(t, s, err) {
				right[c.Class]++
				continue
			}
			got := fmt.Sprint(err)
			if err == nil {
				got = s.At.Format(time.RFC3339Nano)
			}
			want := "a refusal"
			if c.Want != nil {
				want = *c.Want
			}
			t.Errorf("%s: %q at %s (%s): %s, want %s (%s)", c.Class, c.Text, c.Ref, c.TZ, got, want, c.Source)
		}
		var classes []string
		for class := range total {
			classes = append(classes, class)
		}
		sort.Strings(classes)
		var b strings.Builder
		for _, class := range classes {
			fmt.Fprintf(&b, " %s %d/%d", class, right[class], total[class])
		}
		t.Logf("bare seconds %v:%s", bare, b.String())
	}
}

// Every refusal is an *Error with a known code, one line and a hint.
func checkError(t testing.TB, text string, err error) *fault.Error {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) {
		t.Fatalf("%q: the error %v is no *Error", text, err)
	}
	switch e.Code {
	case fault.CodeNotUnderstood, fault.CodePast, fault.CodeAmbiguous, fault.CodeNever, fault.CodeZone, fault.CodeUsage, fault.CodeLimit:
	default:
		t.Errorf("%q: code %q", text, e.Code)
	}
	if e.Message == "" || strings.ContainsAny(e.Message+e.Hint, "\n\r\x1b\x00") || strings.HasSuffix(e.Message, ".") {
		t.Errorf("%q: message %q, hint %q", text, e.Message, e.Hint)
	}
	return e
}

// checkOffers holds the hint of a refused time to what programs read: a text that it says to type
// instead is a candidate.
func checkOffers(t testing.TB, text string, e *fault.Error) {
	t.Helper()
	for _, said := range offered.FindAllString(e.Hint, -1) {
		for _, word := range aQuote.FindAllString(said, -1) {
			instead, err := strconv.Unquote(word)
			if err != nil || !slices.ContainsFunc(e.Candidates, func(c fault.Candidate) bool { return c.Text == instead }) {
				t.Errorf("%q: the hint says %s, which is not a candidate: %v", text, word, e.Candidates)
			}
		}
	}
}

// What a hint says to type instead, which is not an example: say "a" or "b"; "a" is.
var (
	aQuote  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	offered = regexp.MustCompile(`say ` + aQuote.String() + `(?: or ` + aQuote.String() + `)*|` + aQuote.String() + ` is$`)
)

// textsOf is what notes say.
func textsOf(notes []recur.Note) (list []string) {
	for _, n := range notes {
		list = append(list, n.Text)
	}
	return list
}
