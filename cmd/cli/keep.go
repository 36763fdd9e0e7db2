package cli

import (
	"cmp"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// These are the defaults of how much of the past is kept.
const (
	keepDays   = 30
	keepRuns   = 20
	keepOutput = 256_000_000
	keepLedger = 256_000_000
	keepItems  = 50 // how many items of each task the inbox keeps
	keepInbox  = 10_000
)

// Keep returns how long the past is kept, as config.toml says. Its values were checked when it was
// loaded.
func Keep(c state.Config) state.Keep {
	bytes := func(text string, usual int64) int64 {
		n, _ := state.ParseSize(text)
		return cmp.Or(n, usual)
	}
	k := c.Keep
	return state.Keep{Ended: time.Duration(cmp.Or(k.Days, keepDays)) * 24 * time.Hour, Runs: cmp.Or(k.Runs, keepRuns),
		Output: bytes(k.Output, keepOutput), Ledger: bytes(k.Ledger, keepLedger), Items: cmp.Or(k.Items, keepItems),
		Inbox: cmp.Or(k.Inbox, keepInbox)}
}
