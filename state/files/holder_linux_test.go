package files

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/lock"
)

// TestStoppedHolder: who waits in vain for a process that was stopped is told so.
func TestStoppedHolder(t *testing.T) {
	flock, err := exec.LookPath("flock")
	if err != nil {
		t.Skip("nothing to take the lock with")
	}
	dir := t.TempDir()
	must[state.Entry](t)(open(t, dir).Add(ctx, once("n"), day0))
	s := must[*Store](t)(Open(dir, Options{LockWait: time.Millisecond}))
	busy := func() (who *lock.BusyError) {
		t.Helper()
		if _, err := s.Add(ctx, once("n"), day0); err != nil && !errors.As(err, &who) {
			t.Fatal(err)
		}
		return who
	}
	child := exec.Command(flock, s.path(lockFile), "cat")
	in, err := child.StdinPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		child.Process.Signal(syscall.SIGCONT)
		in.Close()
		child.Wait()
	}()
	until := func(what string, is func(*lock.BusyError) bool) *lock.BusyError {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if who := busy(); is(who) {
				return who
			}
		}
		t.Fatal("never " + what)
		return nil
	}
	who := until("busy", func(e *lock.BusyError) bool { return e != nil && e.Waited > 0 })
	if who.PID == 0 {
		t.Skip("the system does not tell who has a lock")
	}
	if who.PID != child.Process.Pid || who.Stopped || strings.Contains(who.Error(), "stopped") {
		t.Errorf("%v, of process %d", who, child.Process.Pid)
	}
	if err := child.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	who = until("stopped", func(e *lock.BusyError) bool { return e != nil && e.Stopped })
	if !strings.Contains(who.Error(), "(flock), which is stopped, has its lock") {
		t.Error(who)
	}
}
