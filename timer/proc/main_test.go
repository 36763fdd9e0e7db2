//go:build unix

package proc

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// helpers are what this test binary does instead of testing when PROC_TEST_HELPER names one: things that need a process
// of their own. Their arguments are in os.Args[1:].
var helpers = map[string]func(args []string) int{}

const helperKey = "PROC_TEST_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperKey); name != "" {
		os.Exit(helpers[name](os.Args[1:]))
	}
	os.Exit(m.Run())
}

// helper is a command that runs a helper.
func helper(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	if helpers[name] == nil {
		t.Fatalf("no helper %q", name)
	}
	cmd := exec.Command(must(os.Executable()), args...)
	cmd.Env = append(os.Environ(), helperKey+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// testEnv is enough for the small commands of the tests.
var testEnv = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}

// output runs a command to its end and returns what it wrote to stdout and stderr.
func output(t *testing.T, spec Spec) (string, Result) {
	t.Helper()
	file := must(os.CreateTemp(t.TempDir(), "out"))
	defer file.Close()
	spec.Stdout, spec.Stderr = file, file
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	r := p.Wait()
	return string(must(os.ReadFile(file.Name()))), r
}

// sh runs text in a shell as output does.
func sh(t *testing.T, text string) (string, Result) {
	t.Helper()
	return output(t, Spec{Argv: ShellText("", text), Env: testEnv, Dir: t.TempDir(), Umask: -1})
}

// startShell starts text in a shell in a folder of its own and ends it with the test.
func startShell(t *testing.T, text string) (*Process, string) {
	t.Helper()
	dir := t.TempDir()
	p, err := Start(Spec{Argv: ShellText("", text), Env: testEnv, Dir: dir, Umask: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(never{}, 0) })
	return p, dir
}

// patience is how long a test waits for something that is certain to happen.
const patience = 60 * time.Second

// lines waits until a file has n whole lines and returns them.
func lines(t *testing.T, path string, n int) []string {
	t.Helper()
	var text []byte
	eventually(t, filepath.Base(path)+" is written", func() bool {
		text, _ = os.ReadFile(path)
		return strings.Count(string(text), "\n") >= n
	})
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// eventually waits until what is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for start := time.Now(); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > patience {
			t.Fatalf("not so after %v: %s", patience, what)
		}
	}
}

// never is a Waiter whose time is never over.
type never struct{}

func (never) For(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

// gate is a Waiter whose time is over when it is closed.
type gate chan struct{}

func (g gate) For(ctx context.Context, _ time.Duration) error {
	select {
	case <-g:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writeProgram writes a file that is to be executed. No child is forked meanwhile: one that had the file open for writing, until it executes
// something else, would make that busy.
func writeProgram(path string, data []byte, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, data, mode)
}
