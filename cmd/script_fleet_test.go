package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// shared are the sessions that say of a fleet what they say of a folder. The others look into the folder, kill what only one machine has, or have no state.
var shared = []string{
	"ack", "answers_transfer", "at_spellings", "at_stdin_json", "at_stdin_lines", "at_stdin_quiet", "at_tag", "at_timeout", "dry_run",
	"edit_recurring", "edit_time", "fire", "fire_overlap", "import_at", "inbox", "inbox_order", "inbox_take", "limits",
	"log_events", "log_filter", "log_follow", "log_follow_json", "ls_filter", "mcp", "pause", "pause_running", "rerun_removed",
	"restore", "seed_wooster", "stop", "top", "wait_recurring", "woken",
}

// TestScriptFleet runs them with OURO_STORE set: each in a fleet of its own, on one server.
func TestScriptFleet(t *testing.T) {
	t.Parallel()
	if testing.Short() || clocktest.Raced {
		t.Skip("the same sessions are run without a fleet")
	}
	servers := natstest.Start(t, 1)
	var files []string
	for _, name := range shared {
		files = append(files, filepath.Join("testdata", "script", name+".txtar"))
	}
	var count atomic.Int64
	testscript.Run(t, session(t, files, func(e *testscript.Env) error {
		address := fmt.Sprintf("%s/f%d", servers.URL(), count.Add(1))
		k, err := jet.Open(t.Context(), jet.Options{URL: address})
		if err != nil {
			return err
		}
		defer k.Close()
		e.Setenv("OURO_STORE", address)
		return initFleet(t.Context(), k, 1)
	}))
}

// initFleet makes the streams of a fleet, once its servers agree on who leads. On a busy machine that takes a while.
func initFleet(ctx context.Context, k *jet.KV, replicas int) error {
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if err := k.Init(ctx, replicas); err == nil || time.Now().After(end) {
			return err
		}
	}
}
