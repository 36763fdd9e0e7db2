package when

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// wordsOfPage are what stands in backquotes there and is not a whole time: names, units, and forms that are refused.
var wordsOfPage = []string{"date", "Time.String", "03/04/27", "today", "ns us ms s m h d w mo y", "sec min hr wk mth yr", "fortnight", "quarter", "M"}

// TestPage reads the examples of docs/time.md: those that stand in its tables and lists of forms, and not in the rules below them.
func TestPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/time.md")
	if err != nil {
		t.Fatal(err)
	}
	span, rule := regexp.MustCompile("`([^`]+)`"), regexp.MustCompile("(?m)^(- |  ).*\n")
	read := 0
	for _, part := range strings.Split(string(data), "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		switch title {
		case "Lengths of time", "Times of day", "Days", "Recurrences in words":
			text = rule.ReplaceAllString(text, "")
		case "Machine forms":
		default:
			continue
		}
		text, bounds, _ := strings.Cut(text, "| bounds and exceptions |")
		check := func(text string, before ...string) {
			for _, m := range span.FindAllStringSubmatch(strings.ReplaceAll(text, "\n", " "), -1) {
				if slices.Contains(wordsOfPage, m[1]) {
					continue
				}
				read++
				if !slices.ContainsFunc(before, func(before string) bool {
					_, err := Parse(before+m[1], Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
					return err == nil
				}) {
					t.Errorf("%s: %q is not read", title, m[1])
				}
			}
		}
		check(text, "")
		check(bounds, "", "every hour ", "every day at 9am ")
	}
	if read < 200 {
		t.Errorf("found only %d examples", read)
	}
}
