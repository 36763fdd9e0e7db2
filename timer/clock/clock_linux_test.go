package clock_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// TestWithoutTimerfd: the promises hold where the kernel refuses a timer.
func TestWithoutTimerfd(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(t *testing.T)
	}{
		{"no descriptor left", func(t *testing.T) { clock.RefuseTimers(t, unix.EMFILE) }},
		{"no such system call", func(t *testing.T) { clock.RefuseTimers(t, unix.ENOSYS) }},
		{"a filter says no", func(t *testing.T) { clock.RefuseTimers(t, unix.EPERM) }},
		{"arming fails", clock.SpoilTimers},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.spoil(t)
			neverEarly(t, 80)
			pastIsOverAtOnce(t)
			farFuture(t)
		})
	}
}

// TestNoDescriptorLeaks: waits that end and waits that are cancelled give their timer back.
func TestNoDescriptorLeaks(t *testing.T) {
	timers := func() (n int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc here:", err)
		}
		for _, e := range entries {
			if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.Contains(to, "timerfd") {
				n++
			}
		}
		return n
	}
	for range 20 {
		for _, wait := range waits {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			wait(ctx, time.Hour)
			cancel()
			wait(t.Context(), time.Microsecond)
		}
	}
	if n := timers(); n != 0 {
		t.Errorf("%d timers are still open", n)
	}
}

const tracedKey = "CLOCK_TEST_TRACED"

// TestTraced is the process that TestSystemCalls looks at.
func TestTraced(t *testing.T) {
	if os.Getenv(tracedKey) == "" {
		t.Skip("only for TestSystemCalls")
	}
	for _, wait := range []string{"Until", "For"} {
		if err := waits[wait](t.Context(), 700*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

// joined is a trace of strace in which each call is a line: one that another thread's came between is written in two halves.
func joined(trace string) string {
	halves := map[string]int{} // by thread, the line that has the first
	var lines []string
	for line := range strings.Lines(trace) {
		thread, call, _ := strings.Cut(line, " ")
		first, unfinished := strings.CutSuffix(line, " <unfinished ...>\n")
		_, second, resumed := strings.Cut(call, " resumed>")
		switch i, begun := halves[thread]; {
		case unfinished:
			halves[thread] = len(lines)
			lines = append(lines, first)
		case resumed && begun:
			lines[i] += second
			delete(halves, thread)
		default:
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// TestJoined joins the halves of a call between which others stand.
func TestJoined(t *testing.T) {
	const trace = `7 read(5,  <unfinished ...>
8 timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC|TFD_NONBLOCK <unfinished ...>
7 <... read resumed>"", 8) = 0
9 +++ exited with 0 +++
8 <... timerfd_create resumed>)     = 5
`
	const want = `7 read(5, "", 8) = 0
8 timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC|TFD_NONBLOCK)     = 5
9 +++ exited with 0 +++
`
	if got := joined(trace); got != want {
		t.Errorf("got:\n%s", got)
	}
}

// TestSystemCalls asserts which clocks the waits use, and that one arming and one waking is all a wait takes.
func TestSystemCalls(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	if out, err := exec.Command(strace, "-f", "true").CombinedOutput(); err != nil {
		t.Skipf("tracing is not allowed: %v: %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(strace, "-f", "-o", log, "-e", "trace=timerfd_create,timerfd_settime,read",
		self, "-test.run=^TestTraced$", "-test.count=1")
	cmd.Env = append(os.Environ(), tracedKey+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	trace := joined(string(text))
	count := func(expr string) int { return len(regexp.MustCompile(expr).FindAllString(trace, -1)) }

	for _, want := range []struct {
		what, expr string
		least      int
		most       int
	}{
		{"timers on the wall clock", `timerfd_create\(CLOCK_REALTIME, TFD_CLOEXEC\|TFD_NONBLOCK\)`, 1, 1},
		{"timers on the clock that counts suspended time", `timerfd_create\(CLOCK_BOOTTIME, TFD_CLOEXEC\|TFD_NONBLOCK\)`, 1, 1},
		{"armings that follow a clock that is set",
			`timerfd_settime\(\d+, TFD_TIMER_ABSTIME\|TFD_TIMER_CANCEL_ON_SET,`, 1, 4},
		{"armings in all", `timerfd_settime\(\d+, TFD_TIMER_ABSTIME`, 2, 6},
		{"expirations read", `"\\1\\0\\0\\0\\0\\0\\0\\0", 8\) += 8`, 2, 2},
	} {
		if n := count(want.expr); n < want.least || n > want.most {
			t.Errorf("%d %s, want %d to %d; the trace:\n%s", n, want.what, want.least, want.most, trace)
		}
	}
}

// TestSteppedClock sets the clock of the machine, so it runs only when asked for, as root. The clock is put back.
func TestSteppedClock(t *testing.T) {
	if os.Getenv("OURO_TEST_STEP_CLOCK") != "1" {
		t.Skip("OURO_TEST_STEP_CLOCK=1 lets this test set the clock of the machine for some seconds")
	}
	step := func(d time.Duration) {
		ts := unix.NsecToTimespec(time.Now().Add(d).UnixNano())
		if err := unix.ClockSettime(unix.CLOCK_REALTIME, &ts); err != nil {
			t.Skip("the clock cannot be set:", err)
		}
	}
	begin := func(wait func() error) <-chan error {
		over := make(chan error, 1)
		go func() { over <- wait() }()
		return over
	}
	ctx := t.Context()

	// The wall clock and CLOCK_BOOTTIME keep their distance but for our steps; that is how it is put back exactly.
	offset := func() time.Duration { return time.Duration(time.Now().UnixNano()) - clock.System.Boot() }
	before := offset()
	t.Cleanup(func() { step(before - offset()) })

	t.Run("forward ends a wait for an instant at once", func(t *testing.T) {
		start := clock.System.Boot()
		over := begin(func() error { return clock.System.Until(ctx, clock.System.Now().Add(20*time.Second)) })
		span := begin(func() error { return clock.System.For(ctx, 300*time.Millisecond) })
		time.Sleep(50 * time.Millisecond) // so that the waits have most likely begun; nothing depends on it
		step(25 * time.Second)
		err := <-over
		took := clock.System.Boot() - start
		step(-25 * time.Second)
		if err != nil || took > 5*time.Second {
			t.Errorf("ended after %v: %v", took, err)
		}
		if err := <-span; err != nil {
			t.Error(err)
		}
		if took := clock.System.Boot() - start; took < 300*time.Millisecond {
			t.Errorf("a length of time of 300 ms took %v", took)
		}
	})
	t.Run("back makes a wait for an instant longer", func(t *testing.T) {
		start, target := clock.System.Boot(), clock.System.Now().Add(300*time.Millisecond)
		over := begin(func() error { return clock.System.Until(ctx, target) })
		time.Sleep(50 * time.Millisecond)
		step(-2 * time.Second)
		err := <-over
		took, now := clock.System.Boot()-start, clock.System.Now()
		step(2 * time.Second)
		if err != nil || took < 2200*time.Millisecond || now.Before(target) {
			t.Errorf("ended after %v at %v, want 2.3 s and %v: %v", took, now, target, err)
		}
	})
	t.Run("small steps neither end nor break waits", func(t *testing.T) {
		target := clock.System.Now().Add(500 * time.Millisecond)
		over := begin(func() error {
			err := clock.System.Until(ctx, target)
			if now := clock.System.Now(); err == nil && now.Before(target) {
				err = errors.New("ended early")
			}
			return err
		})
		for i := range 20 {
			step(time.Duration(20-40*(i%2)) * time.Millisecond)
		}
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}
