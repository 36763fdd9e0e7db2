package cmd

import (
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestTimeForCommand tells words that begin with a time what to type in front of it, and leaves all
// others to be judged as commands.
func TestTimeForCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ words, message, hint string }{
		{"5m tea", `"5m" is a time`, "to get a reminder then: ouro-timer at 5m --task tea; to run it: ouro-timer at 5m -- tea; to wait for it here: ouro-timer wait 5m tea"},
		{"5m", `"5m" is a time`, "to get a reminder then: ouro-timer at 5m --task TEXT; to run something: ouro-timer at 5m -- COMMAND; to wait for it here: ouro-timer wait 5m"},
		{"tomorrow 10am call Bob", `"tomorrow 10am" is a time`, "ouro-timer at tomorrow 10am --task 'call Bob'; "},
		{"in 20 minutes tea", `"in 20 minutes" is a time`, "ouro-timer wait 'in 20 minutes' tea"},
		{"tomorrow at 10 tea", `"tomorrow at 10" is a time`, "ouro-timer at tomorrow at 10 --task tea; "},
		{"9am Warsaw time tea", `"9am Warsaw time" is a time`, "ouro-timer at 9am Warsaw time --task tea; "},
		{"every 5m -- make backup", `"every 5m" is a time`, "did you mean ouro-timer at every 5m -- make backup?"},
		{"5m tea --notify desktop", `"5m" is a time`, "did you mean ouro-timer at 5m --task tea --notify desktop?"},
		{"5m --task tea", `"5m" is a time`, "did you mean ouro-timer at 5m --task tea?"},
		{"30 tea", `"30" is a time`, "to wait for so many seconds: ouro-timer wait 30 tea"},
		{"0930 tea", `"0930" is a time`, "to get a reminder then: ouro-timer at 0930 --task tea; to run it: ouro-timer at 0930 -- tea"},
		{"5x tea", `unknown command "5x"`, "the commands are "},
		{"sho k7m2", `unknown command "sho"`, "did you mean ouro-timer show?"},
		{"yesterday tea", `unknown command "yesterday"`, ""},
		{"next", `unknown command "next"`, "did you mean ouro-timer when"},
		{"every", `unknown command "every"`, "did you mean ouro-timer at"},
		{"TimerTool", `unknown command "TimerTool"`, "did you mean ouro-timer wait 30s"},
		{"notify_tool", `unknown command "notify_tool"`, "did you mean ouro-timer notify --to"},
		{"scheduleAgentTask", `unknown command "scheduleAgentTask"`, `at "tomorrow at 10am" --task`},
		{"reminders create --title x", `unknown command "reminders"`, "did you mean ouro-timer at 30s --agent"},
	} {
		w, _, errs := clitest.World(t, clocktest.NewManual(clitest.Noon))
		code := Main(append([]string{"ouro-timer"}, strings.Fields(tt.words)...), w)
		message, hint, _ := strings.Cut(errs.String(), "\nhint: ")
		if code != cli.ExitUsage || !strings.HasPrefix(message, "ouro-timer: "+tt.message) || !strings.Contains(hint, tt.hint) {
			t.Errorf("%s: exit %d: %s", tt.words, code, errs.String())
		}
	}
}
