package rules

import (
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestFollow is a table of tasks that wait for another: what is asked of its end, how it stands, how its occurrences have ended, and what becomes
// of the waiting.
func TestFollow(t *testing.T) {
	for _, tt := range []struct{ on, phase, ends, want string }{
		{"ok", "pending", "", "waits"},
		{"ok", "pending", "ok", "comes"},
		{"ok", "ended", "ok", "comes"},
		{"ok", "ended open", "", "waits"},
		{"ok", "ended", "failed", "after_ended"},
		{"ok", "pending", "failed ok", "after_ended"}, // the first run counts
		{"ok", "pending", "timeout", "after_ended"},
		{"ok", "pending", "skipped", "waits"}, // it was not a run, and others come
		{"ok", "pending", "missed ok", "comes"},
		{"ok", "ended", "missed", "after_ended"},
		{"ok", "ended", "", "after_ended"}, // stopped by a condition, without a run
		{"ok", "removed", "", "after_removed"},
		{"ok", "removed open", "", "waits"},
		{"ok", "removed", "ok", "comes"},
		{"failed", "ended", "failed", "comes"},
		{"failed", "ended", "timeout", "comes"},
		{"failed", "ended", "interrupted", "comes"},
		{"failed", "ended", "ok", "after_ended"},
		{"failed", "ended", "missed", "after_ended"},
		{"failed", "ended", "cancelled", "after_ended"},
		{"any", "pending", "", "waits"},
		{"any", "pending", "failed", "comes"},
		{"any", "pending", "skipped", "waits"},
		{"any", "ended", "skipped", "comes"},
		{"any", "ended", "cancelled", "comes"},
		{"any", "removed", "", "after_removed"},
	} {
		phase, open := strings.CutSuffix(tt.phase, " open")
		w := Awaited{Phase: state.Phase(phase), Open: open}
		for _, o := range strings.Fields(tt.ends) {
			w.Ends = append(w.Ends, state.Line{Outcome: state.Outcome(o)})
		}
		became, got := Follow(state.After{ID: "k7m2", On: tt.on}, w)
		switch became {
		case StillWaits:
			got = "waits"
		case HasCome:
			got = "comes"
		}
		if got != tt.want {
			t.Errorf("after k7m2:%s, which is %s, with %q: %s, want %s", tt.on, tt.phase, tt.ends, got, tt.want)
		}
	}
}
