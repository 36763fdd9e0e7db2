package proc

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestStopped(t *testing.T) {
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	id := identify(c.Process.Pid)
	for _, want := range []bool{true, false} {
		sig := syscall.SIGCONT
		if want {
			sig = syscall.SIGSTOP
		}
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(30 * time.Second); id.Stopped() != want; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("after %v it is stopped: %v", sig, !want)
			}
		}
	}
}
