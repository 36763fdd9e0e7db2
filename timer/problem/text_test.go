package problem_test

import (
	"slices"
	"testing"

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
