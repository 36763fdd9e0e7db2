package cmd

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// unclear are texts that are refused with what may be meant, beside those of the corpora.
var unclear = []string{
	"7", "90", "at 7", "at 10", "tomorrow at 10", "today at 7", "5 o'clock", "friday at 5", "03/04/2027", "3/4", "1h30", "in 1:30", "9.15", "5M", "tonight",
	"tomorrow morning", "midnight today", "friday 13", "9:00 CEST", "9:00 CST", "every day at 9", "every 9:30", "every third friday", "biweekly", "every 5", "every morning",
	"Dec 25-26", "2030 Dec 24", "10:00-11:00", "third monday", "daily 9", "daily at 24:00", "in 5 minutes banana", "15:00 banana", "0 22-2 * * *", "0 0 9 * * ?", "@every 5m", "@Daily",
	"10:00 Europe/Londn", "9am Tokio time", "9am Warsaw", "3pm eastern time", "second at 9am", "monday to friday", "5 minutes", "half past nine", "2230h", "next friday at noon",
	"+5", "-90", "+5M", "+1h", "-3 days", "-1 month", "8:00", "17:00", "at 6", "at 3", "0:30", "2:30", "yesterday", "monday and tuesday", "twice a day",
}

// offering are the texts of the corpora that have another reading, or are refused with one.
func offering(t *testing.T, now time.Time) (list []string) {
	t.Helper()
	zone, err := civil.LoadZone("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nl", "cron"} {
		file, err := os.Open("../timer/when/testdata/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var c struct{ Text, Expr string }
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			var refused *fault.Error
			s, err := when.Parse(c.Text+c.Expr, when.Options{Now: now, Zone: zone})
			if errors.As(err, &refused) && len(refused.Candidates) > 0 || err == nil && len(s.Others) > 0 {
				list = append(list, c.Text+c.Expr)
			}
		}
	}
	if len(list) < 10 {
		t.Fatalf("only %q", list)
	}
	return list
}

// TestCandidates holds every command that takes a time to what it offers in the place of one:
// pasted there, it means the instant that stands beside it.
func TestCandidates(t *testing.T) {
	clocktest.Alone(t)
	for i, present := range []string{"2026-11-21T12:00:00+01:00", "2027-03-27T16:30:00+01:00", "2027-10-31T00:30:00+02:00"} {
		t.Run(present[:10], func(t *testing.T) {
			t.Parallel()
			now, err := time.Parse(time.RFC3339, present)
			if err != nil {
				t.Fatal(err)
			}
			home := t.TempDir() + "/home"
			made := func(words ...string) string {
				code, answer := call(t, home, now, append([]string{"at", "--json", "--task", "tea"}, words...)...)
				if code != cli.ExitOK {
					t.Fatalf("at %q: %v", words, answer)
				}
				return answer["id"].(string)
			}
			soon, later := made("today at 18:00"), made("in 1 day at 15:00")
			beats, daily, begins := made("every 2h"), made("every day at 9:00", "--count", "5"), made("every 3 days at 9:00", "--start", "in 10 days")
			calls := []struct {
				words []string // WHEN stands for the text
				shows string   // where the instant is in the answer
			}{
				{[]string{"at", "--task", "x", "--dry-run", "WHEN"}, "due"},
				{[]string{"at", "--task", "x", "--dry-run", "--count", "3", "WHEN"}, "due"},
				{[]string{"at", "--task", "x", "--dry-run", "--until=WHEN"}, "due"},
				{[]string{"at", "--task", "x", "--dry-run", "--delay=WHEN"}, "due"},
				{[]string{"at", "--task", "x", "--dry-run", "--every=WHEN"}, "due"},
				{[]string{"at", "--task", "x", "--dry-run", "--cron=WHEN"}, "due"},
				{[]string{"at", "--task", "x", "--dry-run", "every 1h", "--start=WHEN"}, "start"},
				{[]string{"at", "--task", "x", "--dry-run", "every 1s", "--end=WHEN"}, "end"},
				{[]string{"wait", "--dry-run", "WHEN", "--", "x"}, "due"},
				{[]string{"wait", "--dry-run", "--until=WHEN"}, "due"},
				{[]string{"wait", "--dry-run", "--every=WHEN"}, "due"},
				{[]string{"when", "-n", "1", "WHEN"}, "next"},
				{[]string{"edit", soon, "--dry-run", "WHEN"}, "due"},
				{[]string{"edit", later, "--dry-run", "WHEN"}, "due"},
				{[]string{"edit", later, "--dry-run", "--until=WHEN"}, "due"},
				{[]string{"edit", beats, "--dry-run", "WHEN"}, "due"},
				{[]string{"edit", daily, "--dry-run", "WHEN"}, "due"},
				{[]string{"edit", begins, "--dry-run", "WHEN"}, "due"},
				{[]string{"edit", daily, "--dry-run", "--until=WHEN"}, "due"},
				{[]string{"pause", later, "--dry-run", "--resume-at=WHEN"}, "paused"},
				{[]string{"health-wait", "file:/x", "--dry-run", "--until=WHEN"}, "due"},
			}
			texts := unclear
			if i == 0 {
				texts = append(slices.Clone(unclear), offering(t, now)...)
			}
			seen := map[string]int{}
			for _, text := range texts {
				for _, c := range calls {
					if i > 0 && c.words[0] != "edit" { // which alone reads them against more than the present
						continue
					}
					said := func(text string) map[string]any {
						words := []string{c.words[0], "--json"}
						for _, w := range c.words[1:] {
							words = append(words, strings.ReplaceAll(w, "WHEN", text))
						}
						_, answer := call(t, home, now, words...)
						return answer
					}
					offers := func(answer map[string]any) []any {
						if e, ok := answer["error"].(map[string]any); ok {
							list, _ := e["candidates"].([]any)
							return list
						}
						list, _ := answer["others"].([]any)
						return list
					}
					answer := said(text)
					for _, offer := range offers(answer) {
						seen[c.words[0]]++
						offer := offer.(map[string]any)
						want, pasted := offer["at"].(string), offer["text"].(string)
						got := said(pasted)
						is := instantShown(got, c.shows)
						if at, err := time.Parse(time.RFC3339, want); err != nil || !at.Equal(is) {
							t.Errorf("%q with %q offers %q for %s, which is %v: %v", c.words, text, pasted, want, is, got["error"])
						}
					}
				}
			}
			for _, c := range calls {
				if seen[c.words[0]] < 10 && (i == 0 || c.words[0] == "edit") {
					t.Errorf("%s has offered only %d candidates", c.words[0], seen[c.words[0]])
				}
			}
		})
	}
}

// instantShown is an instant in an answer: of a list, that of the first in it.
func instantShown(answer map[string]any, field string) time.Time {
	v := answer[field]
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	if task, ok := v.(map[string]any); ok {
		v = task["resume_at"]
	}
	text, _ := v.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// TestCandidatesOfWords is of waits whose words are a time together: the one candidate is for all
// of these words, the other for the first.
func TestCandidatesOfWords(t *testing.T) {
	t.Parallel()
	home := t.TempDir() + "/home"
	for _, tt := range []struct {
		before []string
		words  string // of the time
	}{
		{nil, "5 minutes"}, {nil, "tomorrow at 9am"}, {nil, "90 seconds"}, {nil, "friday 17:00"}, {nil, "tomorrow 9am New York time"}, {nil, "9am Tokyo time"},
		{nil, "1h 30m"}, {nil, "every 5 minutes"}, {nil, "daily at 9:00"}, {[]string{"delay"}, "5 minutes"}, {[]string{"interval"}, "5 minutes"},
		{nil, "0 9 * * *"},
	} {
		wait := func(words ...string) map[string]any {
			_, answer := call(t, home, clitest.Noon, slices.Concat([]string{"wait", "--dry-run", "--json"}, tt.before, words)...)
			return answer
		}
		words := strings.Fields(tt.words)
		refused, ok := wait(append(slices.Clone(words), "tea")...)["error"].(map[string]any)
		if !ok {
			t.Errorf("%q: wait takes a part of it", tt.words)
			continue
		}
		for i, offer := range refused["candidates"].([]any) {
			offer := offer.(map[string]any)
			pasted := []string{offer["text"].(string), "tea"}
			if i > 0 {
				pasted = slices.Concat(pasted[:1], words[1:], pasted[1:])
			}
			got := wait(pasted...)
			if at, err := time.Parse(time.RFC3339, offer["at"].(string)); err != nil || !at.Equal(instantShown(got, "due")) {
				t.Errorf("%q: %q is offered for %v, and is %v: %v", tt.words, pasted, offer["at"], got["due"], got["error"])
			}
		}
	}
}
