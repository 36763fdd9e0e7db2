package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/settings"
)

// TestKeep: what config.toml says about the past, and what it may not say.
func TestKeep(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]state.Keep{
		"":                        {Ended: 30 * day, Runs: 20, Output: 256e6},
		"[keep]\ndays = 1":        {Ended: day, Runs: 20, Output: 256e6},
		"[keep]\ndays = 36500":    {Ended: 36500 * day, Runs: 20, Output: 256e6},
		"[keep]\nruns = 1":        {Ended: 30 * day, Runs: 1, Output: 256e6},
		`keep.output = "1MB"`:     {Ended: 30 * day, Runs: 20, Output: 1e6},
		`keep.output = "1.5 gib"`: {Ended: 30 * day, Runs: 20, Output: 3 << 29},
		`keep.ledger = "1MB"`:     {Ended: 30 * day, Runs: 20, Output: 256e6, Ledger: 1e6},
		`keep.ledger = "2GiB"`:    {Ended: 30 * day, Runs: 20, Output: 256e6, Ledger: 2 << 30},
		"[keep]\nitems = 1":       {Ended: 30 * day, Runs: 20, Output: 256e6, Items: 1},
		"[keep]\ninbox = 100":     {Ended: 30 * day, Runs: 20, Output: 256e6, Inbox: 100},
	} {
		want.Items, want.Inbox, want.Ledger = cmp.Or(want.Items, 50), cmp.Or(want.Inbox, 10000), cmp.Or(want.Ledger, 256e6)
		c, err := config(t, text)
		if got := Keep(c); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"[keep]\ndays = 0":          "keep.days is 0 and must be 1 to 36500",
		"[keep]\ndays = 36501":      "must be 1 to 36500",
		"[keep]\nruns = 0":          "keep.runs is 0 and must be 1 or more",
		`keep.output = "999kB"`:     "must be 1000000 bytes or more",
		`keep.output = "much"`:      "keep.output takes a size",
		`keep.output = "12"`:        "takes a size",
		`keep.output = "-5MB"`:      "takes a size",
		`keep.output = "1e3MB"`:     "takes a size",
		`keep.output = "9999999TB"`: "takes a size",
		`keep.output = 5`:           "takes a string, not an integer",
		`keep.ledger = "0"`:         "takes a size",
		`keep.ledger = "999kB"`:     "keep.ledger must be 1000000 bytes or more",
		`keep.ledgers = "1MB"`:      "did you mean keep.ledger?",
		`keep.day = 5`:              "did you mean keep.days?",
	} {
		if _, err := config(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func config(t *testing.T, text string) (state.Config, error) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return settings.Load(dir)
}
