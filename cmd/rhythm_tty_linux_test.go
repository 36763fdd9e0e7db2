package cmd

import (
	"strings"
	"testing"
)

// TestWhenOnTerminal has the instants, then the drawing, then the notes; without a terminal the instants alone.
func TestWhenOnTerminal(t *testing.T) {
	_, text := onTerminal(t, `ouro-timer when --from 2026-11-20T14:23:45+01:00 -n 1 '0 0 31 * *'`).end()
	if want := strings.ReplaceAll(`Thu 31 Dec 2026 00:00:00 CET (Europe/Warsaw), in 1 month 10 days

     Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec
2026                                           .  31
2027  31   .  31   .  31   .  31  31   .  31   .  31

read as cron 0 0 31 * *
note: skipped months: February, April, June, September and  November have no 31st
`, "\n", "\r\n"); text != want {
		t.Errorf("said %q, want %q", text, want)
	}
	_, text = onTerminal(t, `ouro-timer when --from 2026-11-20T14:23:45+01:00 -n 1 every 5m 2>/dev/null | cat`).end()
	if want := "Fri 20 Nov 2026 14:28:45 CET (Europe/Warsaw), in 5 minutes\r\n"; text != want {
		t.Errorf("piped: %q", text)
	}
}
