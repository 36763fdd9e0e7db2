package health

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestExecDiesWithUs kills a process that waits with a command: it cannot end that itself.
func TestExecDiesWithUs(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/pid"
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "HEALTH_TEST_EXEC=echo $$ >"+file+".new; mv "+file+".new "+file+"; exec sleep 1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if r := Wait(t.Context(), mustParse(t, "file:"+file), Options{Timeout: time.Minute}); !r.Healthy {
		t.Fatalf("got %+v", r)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	// Its threads come and go meanwhile: the one that the child hangs on must not.
	time.Sleep(300 * time.Millisecond)
	if !alive(pid) {
		t.Fatal("the command has ended while its waiter lives")
	}
	cmd.Process.Kill()
	cmd.Wait()
	for limit := time.Now().Add(2 * time.Minute); alive(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d outlives its waiter", pid)
		}
	}
}
