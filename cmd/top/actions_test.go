package top

import (
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestMeanings types lines whose tasks have no instant, or one, as a new task and as a change.
func TestMeanings(t *testing.T) {
	w, _, _ := clitest.World(t, clocktest.NewManual(clitest.Noon))
	w.Environ = func() []string { return nil }
	base := cli.NewCall(w)
	base.Store = memory.New()
	zone, err := base.Zone()
	if err != nil {
		t.Fatal(err)
	}
	a := &storeActions{ctx: t.Context(), base: base, st: base.Store, zone: zone}
	first, err := a.st.Add(t.Context(), state.Task{Text: "first", When: state.Timing{Kind: "once", Text: "2h", Zone: zone.String()}},
		clitest.Noon.Add(2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct{ line, meaning string }{
		{"3pm --task tea", "Sat 21 Nov 2026 15:00:00 CET (Europe/Warsaw), in 3 hours"},
		{"every day at 9am --task tea", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0, first Sun 22 Nov 2026 09:00:00 CET (Europe/Warsaw), in 21 hours"},
		{"--after " + first.Task.ID + " --task tea", "after " + first.Task.ID},
		{"at each boot -- true", "at the next boot"},
	} {
		got := a.interpret(typed{line: of.line}).(interpretation)
		if got.meaning != of.meaning || got.fault != "" {
			t.Errorf("%s: %q, %q", of.line, got.meaning, got.fault)
		}
		if _, chained := strings.CutPrefix(of.line, "--after"); !chained {
			continue
		}
		told := a.submit(typed{line: of.line}).(status)
		id, _, _ := strings.Cut(strings.TrimPrefix(told.text, "scheduled "), " ")
		found, err := a.st.Find(t.Context(), id)
		if err != nil {
			t.Fatal(told.text, err)
		}
		change := a.interpret(typed{line: "--description cake", task: found[0]}).(interpretation)
		if want := of.meaning + "; changes description"; change.meaning != want || change.fault != "" {
			t.Errorf("the change of %s: %q, %q", of.line, change.meaning, change.fault)
		}
	}
}
