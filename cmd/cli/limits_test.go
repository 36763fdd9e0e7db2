package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state/lock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// TestFreeing: an error about the state lock says what to type about who has it.
func TestFreeing(t *testing.T) {
	for _, tt := range []struct {
		busy lock.BusyError
		say  string
	}{
		{lock.BusyError{Waited: time.Second}, "ps -ef | grep ouro-timer"},
		{lock.BusyError{Holder: lock.Holder{PID: 7, Command: "x"}, Waited: time.Second}, "ps -fp 7"},
		{lock.BusyError{Holder: lock.Holder{PID: 7, Command: "x", Stopped: true}, Waited: time.Second}, "nothing was changed; continue that process: kill -CONT 7, and call again"},
	} {
		f := Explain(fmt.Errorf("adding: %w", errors.Join(&tt.busy)))
		if f.ExitCode() != ExitState || f.Code != problem.Busy || !strings.Contains(f.Hint.String(), tt.say) || strings.Contains(f.Message.String(), "stopped") != tt.busy.Stopped {
			t.Errorf("%+v: %d %q, hint %q", tt.busy, f.ExitCode(), f.Message, f.Hint)
		}
	}
}
