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

// typedCase is a line of testdata/typed.jsonl, of what people and agents type. Its class is must, optional (right, or refused) or
// mustnot.
type typedCase struct {
	Text, Now, TZ, Class, Kind string
	Expect                     typedAnswer
}

// typedAnswer is one instant, the first instants, a refusal and its reason, or any of several of these.
type typedAnswer struct {
	At, Refuse string
	Next       []string
	Ends       bool
	AnyOf      []typedAnswer `json:"any_of"`
}

// right reports whether an answer is the wanted one, to the millisecond.
func (a typedAnswer) right(t *testing.T, s *Schedule, err error, now time.Time) bool {
	for _, one := range a.AnyOf {
		if one.right(t, s, err, now) {
			return true
		}
	}
	switch {
	case a.AnyOf != nil:
		return false
	case a.Refuse != "" || err != nil:
		return a.Refuse != "" && err != nil
	case a.At != "":
		return s.Kind == Once && s.At.Truncate(time.Millisecond).Equal(clocktest.Instant(t, a.At))
	}
	at := now
	for _, want := range a.Next {
		next, ok := s.Next(at)
		if !ok || !next.Equal(clocktest.Instant(t, want)) {
			return false
		}
		at = next
	}
	_, more := s.Next(at)
	return s.Kind != Once && !(a.Ends && more)
}

func typedCases(t *testing.T) (cases []typedCase) {
	t.Helper()
	file, err := os.Open("testdata/typed.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c typedCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// Every case is answered right, and refused for its reason.
func TestTypedCorpus(t *testing.T) {
	for _, c := range typedCases(t) {
		now := clocktest.Instant(t, c.Now)
		s, err := Parse(c.Text, Options{Now: now, Zone: clocktest.Zone(t, c.TZ)})
		if !c.Expect.right(t, s, err, now) {
			t.Errorf("%s: %q at %s: %+v, %v, want %+v", c.Class, c.Text, c.Now, s, err, c.Expect)
		}
		if err == nil {
			continue
		}
		e := checkError(t, c.Text, err)
		checkOffers(t, c.Text, e)
		reasons := map[string]string{"past": fault.CodePast, "ambiguous": fault.CodeAmbiguous}
		if want := reasons[c.Expect.Refuse]; want != "" && e.Code != want {
			t.Errorf("%q: %s, want %s", c.Text, e.Code, want)
		} else if want == "" && c.Class == "mustnot" && (e.Code == fault.CodePast || e.Code == fault.CodeAmbiguous) {
			t.Errorf("%q: %s, want what it does not understand", c.Text, e.Code)
		}
	}
}
