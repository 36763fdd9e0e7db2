package cmd

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The view ends when its terminal is gone, also when no HUP tells it: when the terminal is not the
// one that controls it, and below a parent that ignores HUP.
func TestTopEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before string
		controls     bool
	}{{"not its controlling terminal", "", false}, {"HUP is ignored", "trap '' HUP; ", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			caller, _ := newCaller(t)
			keys, tty := newTerminal(t)
			bash, err := exec.LookPath("bash") // its exec can name a program
			if err != nil {
				t.Skip("there is no bash")
			}
			cmd := exec.Command(bash, "-c", c.before+`exec -a ouro-timer "$1" top`, "bash", caller.self)
			cmd.Env, cmd.Dir = append(caller.env(), "TERM=xterm", "LC_ALL=C", "NO_COLOR=1"), "/"
			cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: c.controls, Setctty: c.controls}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill() })
			tty.Close()
			// One that reads without waiting, so that the terminal can be closed.
			fd := int(keys.Fd())
			if err := unix.SetNonblock(fd, true); err != nil {
				t.Fatal(err)
			}
			var shown strings.Builder
			b := make([]byte, 4096)
			for end := time.Now().Add(2 * time.Minute); !strings.Contains(shown.String(), "nothing is due"); {
				n, err := unix.Read(fd, b)
				switch {
				case n > 0:
					shown.Write(b[:n])
				case time.Now().After(end):
					t.Fatalf("it shows %q, %v", shown.String(), err)
				default:
					time.Sleep(5 * time.Millisecond)
				}
			}
			if err := keys.Close(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { defer close(ended); _ = cmd.Wait() }()
			select {
			case <-ended:
			case <-time.After(2 * time.Minute):
				t.Fatal("it goes on")
			}
			if code := cmd.ProcessState.ExitCode(); code != 1 {
				t.Errorf("%v, want exit status 1", cmd.ProcessState)
			}
		})
	}
}
