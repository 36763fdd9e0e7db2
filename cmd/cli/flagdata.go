package cli

import (
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Outcomes are the words for how a run or an instant can end.
var Outcomes = []string{string(state.OK), string(state.Failed), string(state.TimedOut), string(state.Interrupted), string(state.Missed), string(state.Skipped),
	string(state.Cancelled)}

// SpanText writes a default that is a length of time, in days or seconds.
func SpanText(d time.Duration) string {
	if day := 24 * time.Hour; d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}
