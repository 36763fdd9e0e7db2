package cli

import (
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
	k := state.Keep{Ended: keepDays * 24 * time.Hour, Runs: keepRuns, Output: keepOutput, Ledger: keepLedger,
		Items: keepItems, Inbox: keepInbox}
	if n := c.Keep.Days; n > 0 {
		k.Ended = time.Duration(n) * 24 * time.Hour
	}
	if n := c.Keep.Runs; n > 0 {
		k.Runs = n
	}
	if n, err := state.ParseSize(c.Keep.Output); err == nil && n > 0 {
		k.Output = n
	}
	if n, err := state.ParseSize(c.Keep.Ledger); err == nil && n > 0 {
		k.Ledger = n
	}
	if n := c.Keep.Items; n > 0 {
		k.Items = n
	}
	if n := c.Keep.Inbox; n > 0 {
		k.Inbox = n
	}
	return k
}
