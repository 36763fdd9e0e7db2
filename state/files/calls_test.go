package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/storetest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// The paths that a traced process looks for, so that what it does between can be told in the trace.
const (
	markOpen  = "/ouro-timer-test/open"
	markBegin = "/ouro-timer-test/begin"
	markEnd   = "/ouro-timer-test/end"
)

// callsBatch is how many tasks are claimed and ended together.
const callsBatch = 64

// beTraced is the process whose system calls are counted: it opens the state in dir, and does one thing with it.
func beTraced(role, dir string) int {
	latelyMost = time.Hour // under strace on a busy machine anything may take long
	os.Lstat(markOpen)
	s, err := Open(dir, Options{Limits: few})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx := context.Background()
	claim := func() []storetest.Granted {
		wants := make([]storetest.Want, callsBatch)
		for i := range wants {
			wants[i] = storetest.Want{ID: state.ID(uint64(i)), Due: day0, Next: day1}
		}
		return storetest.ClaimAll(ctx, s, wants, state.Ident{PID: os.Getpid()}, day0)
	}
	var ends []state.Ending
	if role == "end" || role == "end with mail" {
		for _, g := range claim() {
			err = errors.Join(err, g.Err)
			l := state.Line{At: day1, Outcome: state.Failed}
			if role == "end with mail" {
				l.Inbox, l.Tell = state.ItemFailure, []string{"desktop"}
			}
			ends = append(ends, state.Ending{Record: g.Record, Line: l})
		}
		err = errors.Join(err, s.Sync(ctx))
	}
	os.Lstat(markBegin)
	switch role {
	case "add":
		_, e := s.Add(ctx, once("new"), day2)
		err = errors.Join(err, e)
	case "add with a key and an origin":
		_, e := s.Add(ctx, from(from1, keyed(once("new"), "new")), day2)
		err = errors.Join(err, e)
	case "add with a key that is taken":
		if _, e := s.Add(ctx, keyed(once("new"), key), day2); !errors.Is(e, state.ErrKept) {
			err = errors.Join(err, fmt.Errorf("the key is free: %w", e))
		}
	case "claim":
		for _, g := range claim() {
			err = errors.Join(err, g.Err)
		}
	case "end", "end with mail":
		err = errors.Join(err, errors.Join(s.EndAll(ctx, ends)...))
	default:
		err = fmt.Errorf("role %q", role)
	}
	os.Lstat(markEnd)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// fileCall matches a call that is about files as strace writes it, but for the end of one that was interrupted by another thread's.
var fileCall = regexp.MustCompile(`^\d+ +((?:open|openat2?|creat|close|read|readv|pread64|write|writev|pwrite64|fstat|stat|lstat|newfstatat|statx|statfs|fstatfs|access|faccessat2?|` +
	`rename|renameat2?|unlink|unlinkat|mkdir|mkdirat|rmdir|link|linkat|symlinkat|readlink|readlinkat|ftruncate|truncate|fallocate|fsync|fdatasync|sync_file_range|flock|` +
	`getdents64|fcntl|lseek|fchmod|fchmodat|chmod|umask|fchown|utimensat|dup|dup3|copy_file_range|sendfile|ioctl|inotify_add_watch))\((.*)`)

// guarding matches the looks at the state folder and at its two that every writer looks at, which it does again when Open was a while ago.
var guarding = regexp.MustCompile(`^newfstatat\(AT_FDCWD[^,]*, "(|/timers|/runs)", `)

// traced runs the process under strace, and returns the calls about files that Open makes, and those that follow.
func traced(t *testing.T, role, dir string) (opening, calls []string) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("strace", "-f", "-y", "-o", trace, os.Args[0], dir)
	cmd.Env = append(os.Environ(), "OURO_CALLS="+role, "GOMAXPROCS=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("ptrace")) || bytes.Contains(out, []byte("PTRACE")) {
			t.Skipf("strace may not trace here: %s", out)
		}
		t.Fatalf("%s: %v\n%s", role, err, out)
	}
	opened, began, ended := false, false, false
	for line := range strings.Lines(string(must[[]byte](t)(os.ReadFile(trace)))) {
		m := fileCall.FindStringSubmatch(line)
		switch {
		case m == nil, strings.Contains(m[2], "<anon_inode:"), strings.Contains(m[2], "<pipe:"): // the last two are of the runtime
		case strings.Contains(m[2], markOpen):
			opened = true
		case strings.Contains(m[2], markBegin):
			began = true
		case strings.Contains(m[2], markEnd):
			ended = true
		case opened && !ended:
			call := m[1] + "(" + strings.TrimSpace(strings.ReplaceAll(m[2], dir, ""))
			if began && !guarding.MatchString(call) {
				calls = append(calls, call)
			} else {
				opening = append(opening, call)
			}
		}
	}
	if !began || !ended {
		t.Fatalf("%s: the marks are not in the trace", role)
	}
	return opening, calls
}

// kinds are how many calls of each kind there are.
func kinds(calls []string) map[string]int {
	all := map[string]int{}
	for _, c := range calls {
		kind, _, _ := strings.Cut(c, "(")
		all[kind]++
	}
	return all
}

// TestSystemCalls counts what one command asks of the system in a folder that is set up already: it waits for the disk once, whatever it does, an
// addition makes few calls, and none of it grows with the queue.
func TestSystemCalls(t *testing.T) {
	clocktest.Alone(t)
	if runtime.GOOS != "linux" {
		t.Skip("strace is of Linux")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	sizes := []int{callsBatch + 10, 2000}
	folders := map[int]folder{}
	for _, n := range sizes {
		dir := filepath.Join(scratch(t), "state")
		s := lazy(t, dir, nil)
		drafts := make([]state.Draft, n)
		for i := range drafts {
			drafts[i] = state.Draft{Task: daily(fmt.Sprint(i)), Due: day0}
			if i >= callsBatch {
				drafts[i].Due = day0.Add(time.Duration(i) * time.Hour)
			}
		}
		drafts[n-1].Task.Key = key
		drafts[n-2].Task.Origin = from1
		for _, a := range s.AddAll(ctx, drafts) {
			if a.Err != nil {
				t.Fatal(a.Err)
			}
		}
		if err := s.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		folders[n] = pack(t, dir)
	}
	for _, c := range []struct {
		role  string
		waits int
		most  int // of calls, beside Open's
	}{
		{"add", 1, 24}, {"add with a key and an origin", 1, 33}, {"add with a key that is taken", 0, 29},
		{"claim", 1, 13*callsBatch + 25}, {"end", 1, 11*callsBatch + 25}, {"end with mail", 1, 19*callsBatch + 25},
	} {
		counts := map[int]int{}
		for _, n := range sizes {
			dir := filepath.Join(t.TempDir(), "state")
			folders[n].unpack(t, dir)
			opening, calls := traced(t, c.role, dir)
			counts[n] = len(calls)
			count := kinds(calls)
			t.Logf("%s, %d tasks: %d calls: %v, and %d by Open", c.role, n, len(calls), count, len(opening))
			if waits := count["fsync"] + count["fdatasync"]; waits != c.waits {
				t.Errorf("%s, %d tasks: %d waits for the disk, not %d", c.role, n, waits, c.waits)
			}
			if len(calls) > c.most {
				t.Errorf("%s, %d tasks: %d calls, which is more than %d:\n%s", c.role, n, len(calls), c.most, strings.Join(calls, "\n"))
			}
		}
		if counts[sizes[0]] != counts[sizes[1]] {
			t.Errorf("%s: calls grow with the queue: %v", c.role, counts)
		}
	}
}
