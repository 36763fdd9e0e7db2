package cmd

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// killedRunner leaves the state as a runner does that is killed while it starts a command, in the
// moment in which the new process has all that the runner had open, and has not executed its
// program yet: its lock is held, and who holds it is not the runner. end ends that process.
func (c caller) killedRunner() (end func()) {
	c.t.Helper()
	run := exec.Command(c.self)
	run.Args, run.Env, run.Dir = []string{"ouro-timer", "run"}, c.env(), "/"
	if err := run.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.until("the runner", hasWords("runner alive"), "run", "--status")
	if err := run.Process.Kill(); err != nil {
		c.t.Error(err)
	}
	_ = run.Wait() // it was killed
	lock, err := os.Open(filepath.Join(c.home, "runs", "runner.lock"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		c.t.Fatal(err)
	}
	holder := exec.Command("sleep", "1000")
	holder.ExtraFiles = []*os.File{lock}
	if err := holder.Start(); err != nil {
		c.t.Fatal(err)
	}
	end = func() {
		_ = holder.Process.Kill() // a second time it has ended
		_ = holder.Wait()
	}
	c.t.Cleanup(end)
	return end
}

// saying starts a call and waits until it has said something on standard error; the function it
// returns waits for its end.
func (c caller) saying(words string, args ...string) (wait func() (stderr string, code int)) {
	c.t.Helper()
	file, err := os.Create(filepath.Join(c.t.TempDir(), "stderr"))
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(c.self)
	cmd.Args, cmd.Env, cmd.Dir, cmd.Stderr = append([]string{"ouro-timer"}, args...), c.env(), "/", file
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // the exit code says it
	read := func() string {
		text, err := os.ReadFile(file.Name())
		if err != nil {
			c.t.Fatal(err)
		}
		return string(text)
	}
	for end := time.Now().Add(2 * time.Minute); !strings.Contains(read(), words) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		select {
		case <-ended:
			c.t.Fatalf("ouro-timer %s has ended and not said %q: %s", strings.Join(args, " "), words, read())
		default:
		}
	}
	return func() (string, int) {
		defer file.Close()
		<-ended
		return read(), cmd.ProcessState.ExitCode()
	}
}

// The lock of a runner that is gone is waited for, and that is said. Nobody takes who has it for a
// runner.
func TestTheLockOfARunnerThatIsGone(t *testing.T) {
	t.Parallel()
	c, dir := newCaller(t)
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	end := c.killedRunner()
	c.wants(cli.ExitOK, "", "at", "now", "-q", "--", "touch", one)
	c.wants(cli.ExitOK, "no runner is alive", "ls")
	c.wants(cli.ExitFailed, "no runner is alive", "run", "--status")
	c.wants(cli.ExitFailed, "is gone, and something keeps its lock", "doctor")
	wait := c.saying("is gone, but a process that it was starting still has its lock", "run", "--once")
	if _, err := os.Stat(one); err == nil {
		t.Error("there were two runners")
	}
	end()
	if said, code := wait(); code != cli.ExitOK {
		t.Errorf("exit %d: %s", code, said)
	}
	if _, err := os.Stat(one); err != nil {
		t.Error(err)
	}

	// A runner that is started for a task waits, too, and runs it.
	end = c.killedRunner()
	c.autostart = true
	c.wants(cli.ExitOK, "A runner was started in the background for it.", "at", "now", "--", "touch", two)
	log := filepath.Join(c.home, "runs", "runner.log")
	await := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("waited in vain for %s", what)
			}
		}
	}
	await("its log", func() bool {
		text, _ := os.ReadFile(log) // there is none yet
		return bytes.Contains(text, []byte("is gone, but a process that it was starting still has its lock"))
	})
	end()
	await("the task", func() bool { _, err := os.Stat(two); return err == nil })

	// So does one that is asked for, and who asks is told.
	c.until("the end of the runner", hasWords("no runner is alive"), "run", "--status")
	end = c.killedRunner()
	c.wants(cli.ExitOK, "", "at", "1h", "-q", "--no-autostart", "--", "true")
	wait = c.saying("waiting for a process that holds the lock of a dead runner", "run", "--background")
	end()
	if said, code := wait(); code != cli.ExitOK {
		t.Errorf("exit %d: %s", code, said)
	}
	c.wants(cli.ExitOK, "runner alive", "run", "--status")
}

// Who waits for the state lock is ended by a signal in good order, also where signals are not listened for before something waits: QUIT
// would else be the end of a Go program, with pages of goroutines.
func TestASignalWhileTheStateLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	c, _ := newCaller(t)
	c.wants(cli.ExitOK, "", "at", "1h", "-q", "--no-autostart", "--", "true")
	lock, err := os.Open(filepath.Join(c.home, "timers", ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	at := exec.Command(c.self)
	at.Args, at.Env, at.Dir = []string{"ouro-timer", "at", "2h", "-q", "--no-autostart", "--", "true"}, c.env(), "/"
	said, err := at.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := at.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	if !lines.Scan() || !strings.Contains(lines.Text(), "waiting up to 30s for it") {
		t.Errorf("it says %q", lines.Text())
	}
	if err := at.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Errorf("it says %q as well", lines.Text())
	}
	if err := at.Wait(); at.ProcessState.ExitCode() != 128+int(syscall.SIGQUIT) {
		t.Errorf("it ends with %v", err)
	}
}
