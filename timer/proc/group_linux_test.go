package proc

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

func init() {
	helpers["runs-group"] = func(args []string) int { RunGroup(forGroup(context.Background(), args[0])); return 0 }
}

func forGroup(ctx context.Context, text string) *exec.Cmd {
	c := exec.CommandContext(ctx, shell, "-c", text)
	c.WaitDelay = 10 * time.Millisecond
	return c
}

// started waits for the number of a process that text for a shell has written to a file.
func started(t *testing.T, file string) Identity {
	t.Helper()
	return must(Identify(must(strconv.Atoi(lines(t, file, 1)[0]))))
}

func TestRunGroup(t *testing.T) {
	for text, want := range map[string]struct {
		said string
		code int
	}{
		"true": {}, "sleep 1000 & echo one >&2": {"one", 0},
		"printf 'one\n two \n\n' >&2; exit 3":                        {"two", 3},
		"yes | head -c 9999999 >&2; printf '\nlast' >&2; kill -9 $$": {"last", -1},
	} {
		c := forGroup(t.Context(), text)
		said, err := RunGroup(c)
		c.Cancel()
		code, exit := 0, new(exec.ExitError)
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		if said != want.said || code != want.code || (err == nil) != (code == 0) {
			t.Errorf("%s: %q, %v", text, said, err)
		}
	}
}

func TestRunGroupEndsAll(t *testing.T) {
	file := t.TempDir() + "/pid"
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := RunGroup(forGroup(ctx, "sleep 1000 & echo $! > "+file+"; wait"))
		ended <- err
	}()
	id := started(t, file)
	cancel()
	if err := <-ended; err == nil {
		t.Error("no error")
	}
	must(0, WaitGone(ctxWithPatience(), id))
}

// TestRunGroupDiesWithUs kills a process that waits for a command: it cannot end that itself.
func TestRunGroupDiesWithUs(t *testing.T) {
	file := t.TempDir() + "/pid"
	cmd := helper(t, "runs-group", "echo $$ > "+file+"; exec sleep 1000")
	must(0, cmd.Start())
	defer cmd.Process.Kill()
	id := started(t, file)
	// Its threads come and go meanwhile: the one that the command hangs on must not.
	time.Sleep(300 * time.Millisecond)
	if !id.Alive() {
		t.Fatal("the command has ended while its caller lives")
	}
	cmd.Process.Kill()
	cmd.Wait()
	must(0, WaitGone(ctxWithPatience(), id))
}
