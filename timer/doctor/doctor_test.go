package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// store is a state that nobody can damage by hand.
type store struct{ *memory.Store }

func (store) Inspections() []state.Inspection { return nil }

func (store) PathOf(e state.Entry) string { return "timers/" + e.Task.ID }

var (
	// noon is tomorrow's: lines of the ledger are of the real present, which must not be long after it.
	noon = time.Now().UTC().Truncate(24 * time.Hour).Add(36 * time.Hour)
	ctx  = context.Background()
)

// daily is a task of every day at 13:00 UTC that could start.
func daily(dir string) state.Task {
	return state.Task{
		When: state.Timing{Text: "0 13 * * *", Kind: "cron", Zone: "UTC", Start: noon},
		Run:  state.Job{Argv: []string{"true"}, Dir: dir, Env: map[string]string{"PATH": "/usr/bin:/bin"}},
	}
}

// TestChecks plants one thing at a time, and looks that it is found by its check, level and reason, and
// is about what it should be; and that nothing else is.
func TestChecks(t *testing.T) {
	self, err := runner.Self()
	if err != nil {
		t.Fatal(err)
	}
	gone := self
	gone.PID, gone.Start = 1<<22+1, 1
	dir := t.TempDir()
	due := noon.Add(time.Hour)
	var id string // of the task that was added
	var led bool  // the row says who leads
	add := func(d *Doctor, task state.Task, due time.Time) state.Entry {
		t.Helper()
		e, err := d.Store.Add(ctx, task, due)
		if err != nil {
			t.Fatal(err)
		}
		id = e.Task.ID
		return e
	}
	lead := func(d *Doctor, l state.Leader) state.Lease {
		t.Helper()
		lease, err := d.Store.Lead(ctx, l)
		if err != nil {
			t.Fatal(err)
		}
		return lease
	}
	for _, c := range []struct {
		name   string
		plant  func(d *Doctor)
		check  string
		level  state.Level
		reason state.Reason
		about  func() string // nil: nothing in particular
	}{
		{"a schedule that cannot be read", func(d *Doctor) {
			task := daily(dir)
			task.When.Text = "every blue moon"
			add(d, task, due)
		}, "schedules", state.Wrong, BadWords, func() string { return id }},
		{"a zone that is none", func(d *Doctor) {
			task := daily(dir)
			task.When.Zone = "Europe/Atlantis"
			add(d, task, due)
		}, "schedules", state.Wrong, BadZone, func() string { return id }},
		{"words of another kind", func(d *Doctor) {
			task := daily(dir)
			task.When.Kind = "interval"
			add(d, task, due)
		}, "schedules", state.Odd, BadKind, func() string { return id }},
		{"an instant that is none of its schedule", func(d *Doctor) { add(d, daily(dir), due.Add(time.Second)) },
			"schedules", state.Odd, BadDue, func() string { return id }},
		{"a program that is not there", func(d *Doctor) {
			task := daily(dir)
			task.Run.Argv = []string{"no-such-program-of-that-name"}
			add(d, task, due)
		}, "commands", state.Wrong, NoProgram, func() string { return id }},
		{"a folder that is not there", func(d *Doctor) { add(d, daily(filepath.Join(dir, "gone")), due) },
			"commands", state.Wrong, NoDir, func() string { return id }},
		{"a gate that cannot be asked", func(d *Doctor) {
			task := daily(dir)
			task.Policy.If = "no-such-program-of-that-name"
			add(d, task, due)
		}, "commands", state.Odd, NoGate, func() string { return id }},
		{"a task that no runner took", func(d *Doctor) {
			add(d, daily(dir), due)
			d.Now = due.Add(time.Hour)
		}, "overdue", state.Wrong, Overdue, func() string { return id }},
		{"a run whose runner is gone", func(d *Doctor) {
			e := add(d, daily(dir), due)
			if _, err := d.Store.Claim(ctx, e.Task.ID, due, due.AddDate(0, 0, 1), gone, due); err != nil {
				t.Fatal(err)
			}
		}, "claims", state.Wrong, Claimed, func() string { return id + "/1" }},
		{"no runner for what is pending", func(d *Doctor) {
			led = true
			add(d, daily(dir), due)
		}, "runner", state.Wrong, NoRunner, nil},
		{"a runner of another version", func(d *Doctor) {
			led = true
			lead(d, state.Leader{Ident: self, Version: "0", Mode: "foreground"})
		}, "runner", state.Odd, OtherVersion, nil},
		{"what the runner complained of", func(d *Doctor) {
			if err := d.Store.SetTrouble(state.Trouble{At: noon.Add(time.Minute), Text: "no room"}); err != nil {
				t.Fatal(err)
			}
		}, "runner", state.Odd, Trouble, nil},
		{"nothing that outlives a reboot", func(d *Doctor) {
			add(d, daily(dir), due)
			d.Survives = func() bool { return false }
			led = true
			lead(d, state.Leader{Ident: self, Version: "1", Mode: "background"})
		}, "runner", state.Odd, NoReboot, nil},
		{"a channel that tasks name and that is none", func(d *Doctor) {
			task := daily(dir)
			task.Policy.Notify = []string{"pigeon"}
			add(d, task, due)
		}, "channels", state.Wrong, NotReady, func() string { return "pigeon" }},
		{"a clock of long ago", func(d *Doctor) { d.Now = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC) },
			"clock", state.Wrong, ClockPast, nil},
		{"a clock that was set back", func(d *Doctor) {
			if err := d.Store.SetClockShift(ctx, state.ClockShift{Peak: noon.AddDate(0, 1, 0)}); err != nil {
				t.Fatal(err)
			}
		}, "clock", state.Wrong, ClockBack, nil},
		{"a variable that nothing heeds", func(d *Doctor) { d.Environ = append(d.Environ, "OURO_HOEM=x") },
			"environment", state.Odd, Unknown, func() string { return "OURO_HOEM" }},
		{"a variable that cannot be read", func(d *Doctor) { d.Environ = append(d.Environ, "OURO_MAX=long") },
			"environment", state.Wrong, BadValue, func() string { return "OURO_MAX" }},
		{"a zone that cannot be told", func(d *Doctor) { d.ZoneErr = errors.New("no") }, "zone", state.Wrong, Unknown, nil},
		{"a setting with a wrong value", func(d *Doctor) {
			if err := os.WriteFile(filepath.Join(d.Home, "config.toml"), []byte("default_time = \"never\"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "config", state.Wrong, BadSetting, nil},
		{"a setting that is none", func(d *Doctor) {
			if err := os.WriteFile(filepath.Join(d.Home, "config.toml"), []byte("colour = 1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "config", state.Wrong, BadSetting, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, led = "", false
			d := &Doctor{
				Store: store{memory.New()}, Home: t.TempDir(), Now: noon, Zone: time.UTC, Version: "1", Program: "ouro-timer", Programs: needs.New(clock.System), Parallel: 1,
				Channels: notify.Env{Getenv: func(string) string { return "" }}, Settings: []string{"OURO_MAX"}, Given: func() error { return nil },
				Near: func(string) string { return "" }, Survives: func() bool { return true },
				Explain:   func(err error) (string, string) { return err.Error(), "mend it" },
				ChannelOf: func(word string) string { return word },
			}
			c.plant(d)
			if !led {
				lead(d, state.Leader{Ident: self, Since: noon, Version: "1", Mode: "background"})
			}
			var found []state.Finding
			state.Examine(ctx, d.Inspections(), false, func(f state.Finding) {
				if f.Level != state.Fine {
					found = append(found, f)
				}
			})
			if len(found) != 1 || found[0].Check != c.check || found[0].Level != c.level || found[0].Reason != c.reason || found[0].Hint == "" {
				t.Fatalf("found %+v", found)
			}
			if one, other, two := strings.Cut(found[0].Hint, "edit /"); two && one != "" && !strings.HasSuffix(one, "; ") && !strings.HasSuffix(one, "? ") {
				t.Errorf("nothing is between the hints %q and %q", one, "edit /"+other)
			}
			if c.about != nil && (found[0].Subject != c.about() || !strings.Contains(found[0].Text, c.about())) {
				t.Errorf("it is about %q, want %q: %s", found[0].Subject, c.about(), found[0].Text)
			}
		})
	}
}

// TestAllIsFine: each check says something when nothing is wrong, in the order of the table.
func TestAllIsFine(t *testing.T) {
	d := &Doctor{
		Now: noon, Zone: time.UTC, Given: func() error { return nil }, Programs: needs.New(clock.System), Environ: []string{"OURO_TASK_ID=k7m2"},
	}
	var checks []string
	state.Examine(ctx, d.Inspections(), true, func(f state.Finding) {
		checks = append(checks, f.Check)
		if f.Level != state.Fine || f.Text == "" {
			t.Errorf("%+v", f)
		}
	})
	if want := []string{"clock", "zone", "config", "channels", "environment"}; !slices.Equal(checks, want) {
		t.Errorf("%v, want %v", checks, want)
	}
}
