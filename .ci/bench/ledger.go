package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// ledgerLines is how many lines each audited ledger has.
const ledgerLines = 1_000_000

// ledgers are kinds of ledgers that an audit may read: how many tasks their lines are about, and
// which schedules the tasks have.
var ledgers = []struct {
	name   string
	tasks  int
	timing state.Timing
}{
	{"one task", 1, state.Timing{Text: "every 1m", Kind: "interval", Zone: "UTC"}},
	{"a thousand tasks", 1000, state.Timing{Text: "* * * * *", Kind: "cron", Zone: "Europe/Warsaw"}},
	{"100,000 recurring tasks", 100_000, state.Timing{Text: "every 1m", Kind: "interval", Zone: "UTC"}},
	{"500,000 one-shots that are over", ledgerLines / 2, state.Timing{Text: "9:01", Kind: "once", Zone: "UTC"}},
}

// auditing measures log --audit of a million lines: how long it takes, and its peak of memory,
// which is to be at peak 64 MB.
func auditing(ouro, dir string) error {
	fmt.Printf("\n%-44s %10s %10s\n", "log --audit of a million lines", "seconds", "MB")
	for i, l := range ledgers {
		home := filepath.Join(dir, fmt.Sprint("ledger", i))
		if err := writeLedger(home, l.tasks, l.timing); err != nil {
			return err
		}
		c := exec.Command(ouro, "log", "--audit", "--json")
		c.Env = append(os.Environ(), "OURO_HOME="+home)
		c.Stderr = os.Stderr
		begin := time.Now()
		if err := c.Run(); err != nil {
			return err
		}
		most := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss // in kB on Linux
		fmt.Printf("%-44s %10.2f %10.1f\n", l.name, time.Since(begin).Seconds(), float64(most)/1000)
		if err := os.RemoveAll(home); err != nil {
			return err
		}
	}
	return nil
}

// writeLedger makes a state folder that contains only a ledger.
func writeLedger(home string, tasks int, timing state.Timing) error {
	for _, sub := range []string{"runs", "timers"} {
		if err := os.MkdirAll(filepath.Join(home, sub), 0o700); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(filepath.Join(home, "runs", "ledger.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	lines := json.NewEncoder(w)
	timing.Start = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	for n := range tasks {
		e := state.Entry{Task: state.Task{ID: state.ID(uint64(n)), Revision: 1, When: timing}, Due: timing.Start.Add(time.Minute)}
		if err := lines.Encode(state.TaskLine(e, state.EventCreated, timing.Start)); err != nil {
			return err
		}
	}
	for i := range (ledgerLines - tasks) / tasks {
		due, code := timing.Start.Add(time.Duration(i+1)*time.Minute), 0
		for n := range tasks {
			l := state.Line{Type: state.LineOccurrence, At: due, TaskID: state.ID(uint64(n)), Number: i + 1, Due: &due, Count: 1, Outcome: state.OK,
				Started: &due, Ended: &due, Late: 0.001, Attempts: 1, ExitCode: &code, User: 0.001, System: 0.002, MaxRSS: 3481600, Revision: 1,
				Description: "fetch the news of the day"}
			if err := lines.Encode(l); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}
