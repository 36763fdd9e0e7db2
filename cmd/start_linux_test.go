package cmd

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestCostOfACall holds what calls ask of the system, beyond what a Go program asks that does nothing: how many pages of memory it has to
// find for them, and how many system calls they make. The bounds are what was reached, and a tenth more of calls and a quarter more of
// pages: there are more where the system does not have the whole file of the program in memory. docs/performance.md has the times
// that go with them.
func TestCostOfACall(t *testing.T) {
	clocktest.Alone(t)
	t.Parallel()
	dir := t.TempDir()
	build := func(name, source string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", path, source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
			t.Skip("there is no Go here to build the program with")
		} else if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return path
	}
	source := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := priced{home: filepath.Join(dir, "ouro")}
	program, empty := build("ouro-timer", ".."), []string{build("empty", source)}
	pages := c.pages(t, empty, 0)
	calls, _ := c.calls(t, empty)
	for _, call := range []struct {
		words        []string
		pages, calls int // that were reached, beyond those of the empty program
		syncs        int
	}{
		{[]string{"version"}, 345, 6, 0},
		{[]string{"ls"}, 410, 25, 0},
		{[]string{"at", "1h", "-q", "--", "true"}, 575, 72, 1}, // the least is of a folder that is there
	} {
		name, words := strings.Join(call.words, " "), append([]string{program}, call.words...)
		check := func(what string, n, reached, more int) {
			t.Logf("%s: %d %s", name, n, what)
			if n > reached+more {
				t.Errorf("%s: %d %s more than of a program that does nothing, and they were %d", name, n, what, reached)
			}
		}
		check("pages", c.pages(t, words, pages+call.pages)-pages, call.pages, call.pages/4)
		if calls < 0 {
			continue
		}
		n, syncs := c.fewest(t, words, calls+call.calls)
		if check("system calls", n-calls, call.calls, max(call.calls/10, 4)); syncs != call.syncs {
			t.Errorf("%s waits for the disk %d times", name, syncs)
		}
	}
}

// priced makes calls whose cost is looked at, in an environment that is the same everywhere.
type priced struct{ home string }

func (c priced) command(words ...string) *exec.Cmd {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = []string{"OURO_HOME=" + c.home, "OURO_AUTOSTART=0", "HOME=" + filepath.Dir(c.home), "PATH=/usr/bin:/bin", "TZ=UTC",
		// The runtime would look again, now and then, how many processors it may use.
		"GODEBUG=containermaxprocs=0,updatemaxprocs=0"}
	cmd.Dir = filepath.Dir(c.home)
	return cmd
}

// pages is how many pages a call needs that it has not yet: the least of some calls, as a busy machine adds threads and their stacks. When it
// is enough or less, no more calls are made.
func (c priced) pages(t *testing.T, words []string, enough int) int {
	t.Helper()
	least := math.MaxInt
	for range 15 {
		cmd := c.command(words...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", words, err, out)
		}
		if least = min(least, int(cmd.ProcessState.SysUsage().(*syscall.Rusage).Minflt)); least <= enough {
			break
		}
	}
	return least
}

// fewest is the least that calls says of some calls, as the runtime of a busy machine asks more of
// the system. When it is enough or less, no more calls are made.
func (c priced) fewest(t *testing.T, words []string, enough int) (n, syncs int) {
	t.Helper()
	n, syncs = c.calls(t, words)
	for range 5 {
		if n <= enough {
			break
		}
		again, waited := c.calls(t, words)
		n, syncs = min(n, again), max(syncs, waited)
	}
	return n, syncs
}

// traced is a line of strace -f: the call, and the path of one that is about a path.
var traced = regexp.MustCompile(`^\d+ +([a-z0-9_]+)\((?:AT_FDCWD, )?(?:"([^"]*)")?`)

// byTheClock are calls that the runtime makes: how many there are depends on what else the machine does.
var byTheClock = []string{"clone", "clone3", "epoll_pwait", "epoll_pwait2", "exit", "futex", "getpid", "gettid", "madvise", "mmap", "munmap", "nanosleep", "rseq", "rt_sigaction",
	"rt_sigprocmask", "rt_sigreturn", "sched_yield", "set_robust_list", "sigaltstack", "tgkill"}

// calls is how many system calls a call makes, without those that the runtime makes by the clock and looks at names that are not
// below the home, of which there are as many as folders stand above it, or on the way to a program; and how often it waits for the disk. It
// is negative where strace is not to be had.
func (c priced) calls(t *testing.T, words []string) (n, syncs int) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		return -1, 0
	}
	trace := filepath.Join(t.TempDir(), "trace")
	if out, err := c.command(append([]string{strace, "-f", "-o", trace}, words...)...).CombinedOutput(); err != nil {
		t.Logf("strace may not trace here: %s", out)
		return -1, 0
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		m := traced.FindSubmatch(line)
		if m == nil {
			continue
		}
		name, path := string(m[1]), string(m[2])
		if slices.Contains(byTheClock, name) || strings.Contains(name, "stat") && path != "" && !strings.HasPrefix(path, c.home) {
			continue
		}
		n++
		if strings.Contains(name, "sync") {
			syncs++
		}
	}
	return n, syncs
}
