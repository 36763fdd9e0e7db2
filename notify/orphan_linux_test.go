package notify

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestMain lets a test have a process of its own that waits for the program of a channel.
func TestMain(m *testing.M) {
	if script := os.Getenv("NOTIFY_TEST_EXEC"); script != "" {
		c := state.Channel{Name: "run", Type: Exec, Command: []string{"/bin/sh", "-c", script}, Timeout: "10m"}
		if _, err := Send(context.Background(), c, Message{Body: "x"}, outside(nil)); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestExecDiesWithUs kills a process that tells by a program: it cannot end that itself.
func TestExecDiesWithUs(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/pid"
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "NOTIFY_TEST_EXEC=echo $$ >"+file+".new; mv "+file+".new "+file+"; exec sleep 1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	var data []byte
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if data, err = os.ReadFile(file); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	alive := func() bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }
	// Its threads come and go meanwhile: the one that the program hangs on must not.
	time.Sleep(300 * time.Millisecond)
	if !alive() {
		t.Fatal("the program has ended while its caller lives")
	}
	cmd.Process.Kill()
	cmd.Wait()
	for end := time.Now().Add(2 * time.Minute); alive(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d outlives its caller", pid)
		}
	}
}
