//go:build unix

package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// TestNotifyThroughKills tells messages while runners are killed, and asked to step down: each is told, at least once, and its end stands
// in the ledger once. Twice it may be told only for what a killed runner was sending.
func TestNotifyThroughKills(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("kills processes")
	}
	f := newFaults(t)
	told := filepath.Join(f.out, "told")
	program := `id=$(sed 's/^{[^}]*"id":"\([^"]*\)".*/\1/'); sleep 0.02; echo "$id" >>'` + told + `'`
	if err := os.MkdirAll(f.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.home, "config.toml"), fmt.Appendf(nil, "channels.note.command = [\"/bin/sh\", \"-c\", %q]\nchannels.note.type = \"exec\"\n", program), 0o600); err != nil {
		t.Fatal(err)
	}
	const messages = 150
	begin := time.Now()
	drafts := make([]state.Draft, messages)
	for i := range drafts {
		due := begin.Add(time.Second + time.Duration(i)*20*time.Millisecond)
		drafts[i] = state.Draft{Due: due, Task: state.Task{Created: begin, Text: "tea", Policy: state.Policy{Notify: []string{"note"}},
			When: state.Timing{Text: due.Format(time.RFC3339Nano), Kind: "once", Zone: "UTC", Start: begin}}}
	}
	for _, a := range f.st.AddAll(t.Context(), drafts) {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
	}
	wanted := func() (lines map[string]int) {
		lines = map[string]int{}
		if _, _, err := f.st.Log(t.Context(), "", func(l state.Line) bool {
			if l.Type == state.LineDelivery && l.Delivered {
				lines[state.OccurrenceID(l.TaskID, l.Number)]++
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		return lines
	}
	kills := 0
	var last state.Ident // who was asked to step down, or killed
	for time.Since(begin) < 5*time.Second || kills == 0 && len(wanted()) < messages {
		f.call("run", "--background")
		time.Sleep(300 * time.Millisecond)
		l, led, err := f.st.Led(t.Context())
		switch {
		case err != nil || !led:
		case kills%3 == 2 && l.Yields:
			if runner.AskToYield(l.Ident) == nil {
				kills, last = kills+1, l.Ident
			}
		case runner.Signal(l.Ident, syscall.SIGKILL) == nil:
			kills, last = kills+1, l.Ident
		}
	}
	// While it still leads no other is started, and nobody else is there to take over.
	for l, led, err := f.st.Led(t.Context()); err == nil && led && l.Ident == last; l, led, err = f.st.Led(t.Context()) {
		time.Sleep(10 * time.Millisecond)
	}
	f.call("run", "--background")
	lines := wanted()
	for end := time.Now().Add(2 * time.Minute); len(lines) < messages; lines = wanted() {
		if time.Now().After(end) {
			log := read(filepath.Join(f.home, "runs", "runner.log"))
			t.Fatalf("%d of %d were told; the end of the log of the runners:\n%s", len(lines), messages, log[max(0, len(log)-4000):])
		}
		time.Sleep(100 * time.Millisecond)
	}
	times := map[string]int{}
	for _, id := range strings.Fields(read(told)) {
		times[id]++
	}
	again := 0
	for id, n := range lines {
		if n != 1 || times[id] == 0 {
			t.Errorf("%s was told %d times, and stands in %d lines", id, times[id], n)
		}
		again += times[id] - 1
	}
	if left, _, _, err := f.st.Outbox(t.Context(), time.Now().Add(48*time.Hour), 0); err != nil || len(left) > 0 || len(lines) != messages {
		t.Errorf("%d lines, %d notices are left, %v", len(lines), len(left), err)
	}
	if kills == 0 || again > 2*kills {
		t.Errorf("%d kills, and %d were told again", kills, again)
	}
	t.Logf("%d runners were killed or stepped down; %d of %d were told again", kills, again, messages)
}
