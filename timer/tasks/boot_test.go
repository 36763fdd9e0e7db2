package tasks

import (
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// TestIsBoot holds the words of what comes in each boot to those that are meant.
func TestIsBoot(t *testing.T) {
	for _, tt := range []struct {
		text string
		form when.Form
		want bool
	}{
		{"@reboot", when.Any, true}, {" @Reboot ", when.Any, true}, {"at  boot", when.Any, true}, {"every boot", when.Any, true}, {"on startup", when.Any, true},
		{"@reboot", when.CronForm, true}, {"at boot", when.CronForm, false}, {"@reboot", when.UntilForm, false}, {"@reboot", when.RRuleForm, false},
		{"boot", when.Any, false}, {"@daily", when.Any, false}, {"at boot tomorrow", when.Any, false}, {"", when.Any, false},
	} {
		if got := IsBoot(tt.text, tt.form); got != tt.want {
			t.Errorf("IsBoot(%q, %q) = %v", tt.text, tt.form, got)
		}
	}
}

// TestNoBoot: where the system has no name for its boots, nothing is made that would never come, and the reason is told.
func TestNoBoot(t *testing.T) {
	now, text := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), "@reboot"
	w := World{Times: func() (when.Options, error) { return when.Options{Now: now, Zone: time.UTC}, nil }, Boot: func() string { return "" }}
	c := Adding(w, Spec{When: &text})
	p := problem.As(timing{c}.time(t.Context()))
	if p == nil || !strings.Contains(p.Message.String(), "this system gives none") || p.Hint.Empty() {
		t.Errorf("%v", p)
	}
	w.Boot = func() string { return "one" }
	c = Adding(w, Spec{When: &text})
	if err := (timing{c}).time(t.Context()); err != nil || c.Task.When.Boot != "one" || !c.Task.When.OfBoots() || !state.IsUnscheduled(c.Due) {
		t.Errorf("%v, %+v", err, c.Task.When)
	}
}
