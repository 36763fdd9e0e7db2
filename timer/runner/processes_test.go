//go:build unix

package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/output"
)

// A line of text ends as the shell that was asked for would end it, be it executed with it or without.
func TestProcessesRunLinesAsTheirShellDoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"dies":  "#!/bin/sh\necho dying\nkill -TERM $$\n",
		"bare":  "echo bare $1; exit 4\n",
		"print": "#!/bin/sh\necho \"$0:$1\"; pwd; echo \"$PWD\"; env | grep ^GIVEN=\n",
	} {
		syscall.ForkLock.RLock() // a child that has it open for writing would make it busy
		err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755)
		syscall.ForkLock.RUnlock()
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "shut"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=/usr/bin:/bin", "GIVEN=word"}
	for i, text := range []string{
		"./print here", "./dies", "./bare x", "./shut", "./none", "no-such-program -x", "exit 3", "true", "false", "echo a b", "ls .",
		"./print $GIVEN", "./dies || exit 6",
	} {
		r := state.Record{Task: state.Task{ID: "k7m2", Run: state.Job{Shell: text, Prog: "/bin/sh", Dir: dir, Umask: 0o022}}}
		stdout, stderr := filepath.Join(dir, "out", "stdout"), filepath.Join(dir, "out", "stderr")
		c, err := Processes{}.Start(t.Context(), r, env, output.File(stdout), output.File(stderr), func() error { return nil })
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := c.Wait()

		// As a process of its own does it.
		var out, errs strings.Builder
		plain := exec.Command("/bin/sh", "-c", text)
		plain.Dir, plain.Env, plain.Stdout, plain.Stderr = dir, append(env, "PWD="+dir), &out, &errs
		_ = plain.Run() // the exit code says it
		if code := plain.ProcessState.ExitCode(); got.ExitCode != code || read(t, stdout) != out.String() || read(t, stderr) != errs.String() {
			t.Errorf("case %d, %s: exit %d\n%s%s\nby hand: exit %d\n%s%s", i, text, got.ExitCode, read(t, stdout), read(t, stderr),
				code, out.String(), errs.String())
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
