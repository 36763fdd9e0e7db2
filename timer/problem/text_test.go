package problem_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/timer/problem"
)

func TestWordsOfCalls(t *testing.T) {
	for _, c := range []struct {
		call problem.Call
		want []string
	}{
		{problem.Call{}, nil},
		{problem.To("stop", "k7m2", "x3p9").With("max", "5s").With("kill", true), []string{"ouro", "stop", "k7m2", "x3p9", "--max", "5s", "--kill"}},
		{problem.To("wait").With("count", 3).Saying("it's hot"), []string{"ouro", "wait", "--count", "3", "it's hot"}},
		{problem.To("wait").With("count", 3).Saying("-x"), []string{"ouro", "wait", "--count", "3", "--", "-x"}},
		{problem.To("inbox").With("take", problem.Bare("2m")).With("wait", true), []string{"ouro", "inbox", "--take=2m", "--wait"}},
		{problem.To("inbox").With("take", problem.Bare("")), []string{"ouro", "inbox", "--take"}},
		{problem.To("health-wait", "tcp://h:1").With("header", []string{"A: b", "C: d"}).With("all", false).Running("make", "a b"),
			[]string{"ouro", "health-wait", "tcp://h:1", "--header", "A: b", "--header", "C: d", "--all=false", "--", "make", "a b"}},
		{problem.To("at").With(problem.When, "in 10m").With(problem.Command, []string{"make"}), []string{"ouro", "at", "in 10m", "--", "make"}},
	} {
		if got := c.call.Words("ouro"); !slices.Equal(got, c.want) {
			t.Errorf("%+v has the words %q, want %q", c.call, got, c.want)
		}
	}
}

// TestCallsShareNothing has two calls made of one.
func TestCallsShareNothing(t *testing.T) {
	one := problem.To("wait").With("cron", "@daily").With("tz", "UTC")
	a, b := one.With("count", 1), one.With("count", 2)
	if got := (problem.Shell{}).Call(a); got != "ouro-timer wait --cron @daily --tz UTC --count 1" {
		t.Errorf("the first became %s after %+v was made", got, b)
	}
}

// TestLongValuesAreCut has values that are as long as callers may send them.
func TestLongValuesAreCut(t *testing.T) {
	long := strings.Repeat("ż ", 500_000)
	for _, row := range []struct {
		name, starts, ends string
		text               problem.Text
	}{
		{"a value", `no task "ż `, ` ż "`, problem.T("no task %s", `"`+long+`"`)},
		{"an error", "cannot be read: open ż ", " ż : not found", problem.T("cannot be read: %s", errors.New("open "+long+": not found"))},
		{"a text", "open ż ", ": not found", problem.T("open " + long + ": not found")},
		{"a part of a part", "cannot be read: open ż ", "ż : not found", problem.T("cannot be read: %s", problem.T("open %s: not found", long))},
		{"a call, which cannot be made", "try ouro-timer wait 5m 'ż ", "…", problem.T("try %s", problem.To("wait", "5m").Saying(long))},
		{"a setting", "try --task 'ż ", "…", problem.T("try %s", problem.Set("task", long))},
	} {
		if got := row.text.String(); !strings.HasPrefix(got, row.starts) || !strings.HasSuffix(got, row.ends) || len(got) > 5000 || !utf8.ValidString(got) {
			t.Errorf("%s has %d bytes: %.40q and %q at its end", row.name, len(got), got, got[max(0, len(got)-40):])
		}
	}
	usual := problem.T("%s", problem.To("at", "5m").Saying(strings.Repeat("x", 4000)))
	if got := usual.String(); !strings.HasSuffix(got, "xx") {
		t.Errorf("a call of %d bytes is cut", len(got))
	}
}
