package cmd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// inContainer is a call as the first process of a pid namespace of its own; the test is skipped
// where there can be none.
func (c caller) inContainer(args ...string) *exec.Cmd {
	c.t.Helper()
	unshare := []string{"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--user", "--map-root-user")
	}
	if out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		c.t.Skipf("there can be no pid namespace here: %v: %s", err, out)
	}
	called := filepath.Join(c.t.TempDir(), "ouro-timer")
	if err := os.Symlink(c.self, called); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(unshare[0], append(append(unshare[1:], called), args...)...)
	cmd.Env, cmd.Dir = c.env(), "/"
	return cmd
}

// children are the processes that a process has started or got, by their state: R, S, Z.
func children(t *testing.T, pid int) map[int]string {
	t.Helper()
	found := map[int]string{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it is gone
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if parent, err := strconv.Atoi(fields[1]); err == nil && parent == pid {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			found[child] = fields[0]
		}
	}
	return found
}

// heard is what a process says on a stream, to be read while it does.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(text []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(text)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// The first process of a container waits for what the commands of its tasks leave behind, and takes
// nobody's exit code. It copies what they write, reads config.toml again at HUP, and ends at TERM,
// although the system leaves it alone with signals that it has no use for.
func TestTheFirstProcessReapsOrphans(t *testing.T) {
	t.Parallel()
	c, dir := newCaller(t)
	var lines bytes.Buffer
	const tasks = 100
	for i := range tasks { // each with two orphans: one that has ended when it has, and one that goes on
		fmt.Fprintf(&lines, `{"when":"now","shell":"echo a; echo b >&2; sh -c '(exit 5) & (sleep 0.1; echo >>%s/orphans) & exit' ; exit %d"}`+"\n", dir, i%200)
	}
	add := exec.Command(c.self)
	add.Args, add.Env, add.Dir, add.Stdin = []string{"ouro-timer", "at", "--stdin", "jsonl", "-q"}, c.env(), "/", &lines
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var said, told heard
	run := c.inContainer("run", "--output")
	run.Stdout, run.Stderr = &told, &said
	run.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a container has no terminal, whatever the test has
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = run.Wait() }() // the exit code says it
	t.Cleanup(func() { _ = run.Process.Kill(); <-ended })
	await := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
			select {
			case <-ended:
				t.Fatalf("it has ended before %s: %s", what, said.String())
			default:
			}
			if time.Now().After(end) {
				t.Fatalf("waited in vain for %s", what)
			}
		}
	}
	await("its orphans", func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "orphans")) // there is none yet
		return bytes.Count(text, []byte("\n")) == tasks
	})
	first := 0
	for pid := range children(t, run.Process.Pid) { // that of unshare
		first = pid
	}
	await("the last zombie", func() bool { return first != 0 && len(children(t, first)) == 0 })
	await("the last outcome", func() bool {
		out, _, _ := c.call("log", "-n", "1000")
		return strings.Count(out, "\toccurrence\t")+strings.Count(out, "\tfailed\t")+strings.Count(out, "\tok\t") >= tasks
	})
	out := c.wants(cli.ExitOK, "", "log", "-n", "1000", "--json")
	for i := 1; i < tasks; i++ {
		if !strings.Contains(out, fmt.Sprintf(`"exit_code":%d,`, i)) {
			t.Errorf("exit code %d is lost", i)
		}
	}
	if strings.Contains(out, `"outcome":"interrupted"`) || strings.Contains(out, `"exit_code":-1`) {
		t.Errorf("somebody else took the end of a command")
	}
	await("all lines", func() bool {
		text := told.String()
		return strings.Count(text, "/1 out: a\n") == tasks && strings.Count(text, "/1 err: b\n") == tasks && strings.Count(text, "\n") == 2*tasks
	})
	if err := syscall.Kill(first, syscall.SIGHUP); err != nil {
		t.Error(err)
	}
	await("config.toml", func() bool {
		return strings.Contains(said.String(), "config.toml was read again: nothing in it has changed")
	})
	if err := syscall.Kill(first, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	<-ended
	if code := run.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit %d: %s", code, said.String())
	}
}
