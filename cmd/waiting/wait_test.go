package waiting

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// readWait turns the words of a call into options, and waits for nothing.
func readWait(t *testing.T, c clock.Clock, words ...string) (o waitOptions, s *cli.Call, err error) {
	w, _, _ := clitest.World(t, c)
	s = cli.NewCall(w)
	cmd := WaitCommand()
	cmd.Run = func(_ context.Context, s *cli.Call) (err error) {
		o, err = newWait(s)
		return err
	}
	s.Called = "/bin/ouro-timer" // as the words that go on name it
	err = clitest.Perform(t.Context(), s, cmd, words...)
	return o, s, err
}

// TestWaitRefusesBounds that are none, of the environment as of --max.
func TestWaitRefusesBounds(t *testing.T) {
	for _, bound := range []string{"0", "0s", "-5s", "soon", "5m tea"} {
		w, _, errs := clitest.World(t, clocktest.NewManual(clitest.Noon))
		get := w.Getenv
		w.Getenv = func(name string) string {
			if name == "OURO_MAX" {
				return bound
			}
			return get(name)
		}
		s := cli.NewCall(w)
		code := cli.Conclude(s, clitest.Perform(t.Context(), s, WaitCommand(), "1s"))
		if code != cli.ExitUsage || !strings.Contains(errs.String(), "OURO_MAX") {
			t.Errorf("OURO_MAX=%s: exit %d: %s", bound, code, errs)
		}
		if _, _, err := readWait(t, clocktest.NewManual(clitest.Noon), "1s", "--max="+bound); err == nil || !strings.Contains(err.Error(), "--max") {
			t.Errorf("--max=%s: %v", bound, err)
		}
	}
}

// goingWait starts a wait beside the test, which moves its clock. What it says is in the buffers,
// how it ends in end.
func goingWait(t *testing.T, c clock.Clock, words ...string) (out, errs *bytes.Buffer, end <-chan error, cancel func()) {
	t.Helper()
	o, s, err := readWait(t, c, words...)
	if err != nil {
		t.Fatal(err)
	}
	get := s.Getenv
	// Files hold the clock of a bubble still; and a state that cannot be used holds up no wait.
	s.Getenv = func(name string) string {
		if name == "OURO_HOME" {
			return os.DevNull + "/home"
		}
		return get(name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- runWait(ctx, s, o) }()
	return s.World.Out.(*bytes.Buffer), s.Err.(*bytes.Buffer), result, cancel
}

func TestWaitIsNeverEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clocktest.NewManual(clitest.Noon)
		out, _, ended, _ := goingWait(t, m, "3s", "check", "the", "oven")
		m.Advance(3*time.Second - 1)
		synctest.Wait()
		if out.Len() > 0 {
			t.Fatalf("a nanosecond early: %q", out)
		}
		m.Advance(1)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), "Timer triggered. Task to execute: check the oven\n"; got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	})
}

func TestWaitAndTheSteppedClock(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		step        time.Duration
		real        time.Duration // how much real time passes until it is told
	}{
		{"a delay goes by real time", "10s tea", time.Hour, 10 * time.Second},
		{"a delay goes by real time, back", "10s tea", -time.Hour, 10 * time.Second},
		{"an interval goes by real time", "--every 10s tea", -time.Hour, 10 * time.Second},
		{"an instant goes by the clock", "--until 2026-11-21T12:00:10+01:00 tea", 4 * time.Second, 6 * time.Second},
		{"an instant goes by the clock, back", "--until 2026-11-21T12:00:10+01:00 tea", -time.Hour, time.Hour + 10*time.Second},
		{"a phase goes by the clock", "--every 10s --start 2026-11-21T12:00:00+01:00 tea", 4 * time.Second, 6 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := clocktest.NewManual(clitest.Noon)
				out, _, ended, _ := goingWait(t, m, split(tt.words)...)
				synctest.Wait()
				m.Step(tt.step)
				m.Advance(tt.real - 1)
				synctest.Wait()
				if out.Len() > 0 {
					t.Fatalf("early: %q", out)
				}
				m.Advance(1)
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// told is a line of wait --json.
type told struct {
	Now         time.Time
	Status      string
	Task        *string
	Due         time.Time
	LateSeconds float64 `json:"late_seconds"`
	Kind        string
	Text        string
	Missed      int
	Continue    []string
}

func decode(t *testing.T, out *bytes.Buffer) (lines []told) {
	for d := json.NewDecoder(out); d.More(); {
		var l told
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// TestWaitKeepsThePhase wakes late each time: the instants stay a multiple of the period from the
// first.
func TestWaitKeepsThePhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clocktest.NewManual(clitest.Noon)
		out, _, ended, _ := goingWait(t, m, "--json", "--every", "5m", "--count", "4", "tea")
		for range 4 {
			synctest.Wait()
			m.Next()
			m.Advance(7 * time.Second)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		lines := decode(t, out)
		if len(lines) != 4 {
			t.Fatalf("%d lines, want 4", len(lines))
		}
		for i, l := range lines {
			if want := clitest.Noon.Add(time.Duration(i+1) * 5 * time.Minute); !l.Due.Equal(want) {
				t.Errorf("line %d is due %s, want %s", i, l.Due, want)
			}
		}
		want := []string{"/bin/ouro-timer", "wait", "--json", "--interval", "5m",
			"--start", "2026-11-21T12:10:00+01:00", "--count", "2", "tea"}
		if !reflect.DeepEqual(lines[1].Continue, want) {
			t.Errorf("goes on with %q, want %q", lines[1].Continue, want)
		}
		if lines[3].Continue != nil {
			t.Errorf("the last of 4 goes on with %q", lines[3].Continue)
		}
	})
}

// TestWaitOverslept suspends the machine through three instants: one line, late, for the latest.
func TestWaitOverslept(t *testing.T) {
	for _, words := range []string{
		"--every 5m --count 2 tea",
		"--every 5m --start 2026-11-21T12:00:00+01:00 --count 2 tea",
		"--cron */5_*_*_*_* --count 2 tea",
	} {
		t.Run(words, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := clocktest.NewManual(clitest.Noon)
				out, errs, ended, _ := goingWait(t, m, split(words)...)
				synctest.Wait()
				m.Advance(16 * time.Minute)
				synctest.Wait()
				const line = "Timer triggered. Task to execute: tea\n"
				if out.String() != line {
					t.Fatalf("said %q, want one line", out)
				}
				if got := errs.String(); !strings.Contains(got, "2 times went by unseen, from Sat 21 Nov 2026 12:05:00") {
					t.Errorf("standard error: %q", got)
				}
				m.Advance(4*time.Minute - 1)
				synctest.Wait()
				if out.String() != line {
					t.Fatalf("the next one came early: %q", out)
				}
				m.Advance(1)
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
				if out.String() != line+line {
					t.Errorf("said %q, want two lines", out)
				}
			})
		})
	}
}

func TestWaitJSONOverslept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clocktest.NewManual(clitest.Noon)
		out, errs, ended, _ := goingWait(t, m, "--every", "5m", "--json")
		synctest.Wait()
		m.Advance(16 * time.Minute)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		l := decode(t, out)[0]
		if l.Status != "triggered" || l.Task != nil || l.Kind != "interval" || l.Text != "5m" ||
			l.Missed != 2 || l.LateSeconds != 60 {
			t.Errorf("%+v", l)
		}
		if errs.Len() > 0 {
			t.Errorf("standard error: %q", errs)
		}
	})
}

// TestWaitGoesOn pastes the second line back in, as its reader would, and ends in the same phase.
func TestWaitGoesOn(t *testing.T) {
	for _, tt := range []struct{ words, next string }{
		{"--interval 5m it's_hot", "/bin/ouro-timer wait --interval 5m --start 2026-11-21T12:05:00+01:00 'it'\\''s hot'"},
		{"interval 300 check the oven", "/bin/ouro-timer wait --interval 5m --start 2026-11-21T12:05:00+01:00 'check the oven'"},
		{"--interval 5m --tz UTC tea", "/bin/ouro-timer wait --interval 5m --tz UTC --start 2026-11-21T11:05:00Z tea"},
		{"--interval 5m --end 2026-11-21T18:00:00+01:00 tea",
			"/bin/ouro-timer wait --interval 5m --end 2026-11-21T18:00:00+01:00 --start 2026-11-21T12:05:00+01:00 tea"},
		{"--interval 5m -- -v", "/bin/ouro-timer wait --interval 5m --start 2026-11-21T12:05:00+01:00 -- -v"},
		{"--cron 0_9_*_*_1-5 fetch", "/bin/ouro-timer wait --cron '0 9 * * 1-5' fetch"},
		{"--cron @daily fetch", "/bin/ouro-timer wait --cron @daily fetch"},
		{"@daily fetch", "/bin/ouro-timer wait --cron '0 0 * * *' fetch"},
		{"--rrule FREQ=DAILY;INTERVAL=2;BYHOUR=18 walk",
			"/bin/ouro-timer wait --rrule 'FREQ=DAILY;INTERVAL=2;BYHOUR=18' --start 2026-11-21T12:00:00+01:00 walk"},
		{"--rrule DTSTART:20261120T180000_RRULE:FREQ=DAILY;INTERVAL=3 walk",
			"/bin/ouro-timer wait --rrule 'DTSTART:20261120T180000 RRULE:FREQ=DAILY;INTERVAL=3' walk"},
	} {
		t.Run(tt.words, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := clocktest.NewManual(clitest.Noon)
				out, _, ended, _ := goingWait(t, m, split(tt.words)...)
				synctest.Wait()
				m.Next()
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
				_, second, _ := strings.Cut(out.String(), "\n")
				if want := "Recurring. To wait for the next time: " + tt.next + "\n"; second != want {
					t.Errorf("second line %q, want %q", second, want)
				}
			})
		})
	}
}

// TestWaitContinuesWhereItWas runs what "continue" says, again and again, each time three seconds
// late. It must come upon the instants that one schedule, read once, has.
func TestWaitContinuesWhereItWas(t *testing.T) {
	for _, words := range []string{
		"--interval 90s tea",
		"every_2_hours tea",
		"--cron 30_9_*_*_MON-FRI tea",
		"--rrule FREQ=DAILY;INTERVAL=3 tea",
		"--rrule FREQ=HOURLY;INTERVAL=5 tea",
		"--rrule FREQ=MINUTELY;INTERVAL=7;COUNT=4 tea",
		"every_2_days_at_9am tea",
		"every_3_days tea",
		"every_other_friday_at_17:00 tea",
		"every_weekday_at_9am tea",
		"every_month tea",
		"every_day_at_9am_Asia/Tokyo tea",
	} {
		t.Run(words, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := clocktest.NewManual(clitest.Noon.Add(7250 * time.Millisecond))
				next := append(split(words), "--json")
				o, _, err := readWait(t, m, next...)
				if err != nil {
					t.Fatal(err)
				}
				want, more := o.first, true
				for i := range 4 {
					out, _, ended, _ := goingWait(t, m, next...)
					synctest.Wait()
					m.Next()
					if err := <-ended; err != nil {
						t.Fatal(err)
					}
					l := decode(t, out)[0]
					if !l.Due.Equal(want) {
						t.Fatalf("call %d, %q, was due %s, want %s", i, next, l.Due, want)
					}
					if want, more = o.schedule.Next(want); more != (l.Continue != nil) {
						t.Fatalf("call %d goes on with %q, and there is more: %v", i, l.Continue, more)
					}
					if !more {
						return
					}
					next = l.Continue[2:]
					m.Advance(3 * time.Second)
				}
			})
		})
	}
}

func TestWaitEndsWithItsRecurrence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clocktest.NewManual(clitest.Noon)
		out, _, ended, _ := goingWait(t, m, "--every", "5m", "--end", "2026-11-21T12:12:00+01:00", "--count", "0", "tea")
		for range 2 {
			synctest.Wait()
			m.Next()
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "\n"); got != 2 {
			t.Errorf("%d lines, want 2: %q", got, out)
		}
	})
}

func TestWaitIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, _, ended, cancel := goingWait(t, clocktest.NewManual(clitest.Noon), "1h", "tea")
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || out.Len() > 0 {
			t.Errorf("ended with %v and %q", err, out)
		}
	})
}

// failing refuses every write.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWaitNobodyListens(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, ""},
		{&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, "could not be written"},
	} {
		for _, form := range []string{"tea", "tea --json", "tea --raw"} {
			synctest.Test(t, func(t *testing.T) {
				m := clocktest.NewManual(clitest.Noon)
				o, s, err := readWait(t, m, split("--every 1s --count 0 "+form)...)
				if err != nil {
					t.Fatal(err)
				}
				s.Stdout = bufio.NewWriter(failing{tt.err})
				ended := make(chan error, 1)
				go func() { ended <- runWait(t.Context(), s, o) }()
				synctest.Wait()
				m.Next()
				err = <-ended
				if err == nil {
					t.Fatal("goes on as if somebody had read it")
				}
				if _, quiet := err.(cli.ExitCode); quiet != (tt.want == "") || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("ended with %v", err)
				}
			})
		}
	}
}
