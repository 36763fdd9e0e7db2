package proc

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestSuspended(t *testing.T) {
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { c.Process.Kill(); c.Wait() }()
	id := identify(c.Process.Pid)
	if id.Suspended() {
		t.Error("a process that runs is called suspended")
	}
	for _, step := range []struct {
		sig  syscall.Signal
		want bool
	}{{syscall.SIGSTOP, true}, {syscall.SIGCONT, false}} {
		if err := c.Process.Signal(step.sig); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(2 * time.Minute); id.Suspended() != step.want; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("after %v Suspended is still %v", step.sig, !step.want)
			}
		}
	}
	other := id
	other.Start++
	if c.Process.Signal(syscall.SIGSTOP); other.Suspended() {
		t.Error("another process with the same number is taken for it")
	}
}
